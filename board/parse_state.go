package board

import (
	"github.com/autonomy-team/autonomy"
	"github.com/autonomy-team/autonomy/internal/strictjson"
)

// object runs read over the object under key, if there is one.
func (r *reader) object(key string, read func(*reader)) bool {
	m, ok := r.get(key)
	if ok {
		r.in(m, key, read)
	}
	return ok
}

func (r *reader) claim() *Claim {
	var c Claim
	ok := r.object("claim", func(in *reader) {
		c.ID = autonomy.ClaimID(in.required("id"))
		c.By = autonomy.AgentName(in.required("by"))
		c.Instance = autonomy.InstanceID(in.line("instance"))
		c.At = in.time("at")
		c.Assigned = in.boolean("assigned")
	})
	if !ok {
		return nil
	}
	return &c
}

// required reads a line that must be there: without it the object says nothing.
func (r *reader) required(key string) string {
	s := r.line(key)
	if s == "" {
		r.failf(r.o.Start(), "%s is missing", key)
	}
	return s
}

func (r *reader) held() *Held {
	var h Held
	if !r.object("held", func(in *reader) {
		h.Reason, _ = in.str("reason")
		h.At = in.time("at")
	}) {
		return nil
	}
	return &h
}

func (r *reader) result() *Result {
	var res Result
	if !r.object("result", func(in *reader) {
		res.Summary, _ = in.str("summary")
		res.RunID = autonomy.RunID(in.line("runId"))
		res.FinishedAt = in.time("finishedAt")
		res.Verified = in.boolean("verified")
		if m, ok := in.get("usage"); ok {
			res.Usage = in.raw("usage", strictjson.Kind(m))
		}
	}) {
		return nil
	}
	return &res
}

func (r *reader) failure() *Failure {
	var f Failure
	if !r.object("failure", func(in *reader) {
		f.Code = in.line("code")
		f.Message, _ = in.str("message")
		f.Count = in.count("count")
		f.Deaths = in.count("deaths")
		f.At = in.time("at")
	}) {
		return nil
	}
	return &f
}
