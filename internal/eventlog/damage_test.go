package eventlog

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestEveryAlterationIsFound(t *testing.T) {
	path := write(t, Config{Now: fixed}, 6)
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	check := func(t *testing.T, what string, altered []byte) {
		t.Helper()
		if bytes.Equal(altered, sound) {
			return
		}
		if err := os.WriteFile(path, altered, 0o600); err != nil {
			t.Fatal(err)
		}
		if all, err := read(path); !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrTorn) {
			t.Fatalf("%s: %d records, error %v", what, len(all), err)
		}
	}
	for i := range sound {
		for _, to := range []byte{sound[i] ^ 1, sound[i] ^ 0x20, 0, '\n'} {
			altered := bytes.Clone(sound)
			altered[i] = to
			check(t, "byte changed", altered)
		}
		check(t, "byte removed", slices.Delete(bytes.Clone(sound), i, i+1))
	}
	lines := bytes.SplitAfter(bytes.TrimSuffix(sound, []byte("\n")), []byte("\n"))
	lines[5] = append(bytes.Clone(lines[5]), '\n')
	for i := range lines {
		for j := range i {
			swapped := slices.Clone(lines)
			swapped[i], swapped[j] = swapped[j], swapped[i]
			check(t, "swapped", bytes.Join(swapped, nil))
		}
		check(t, "repeated", bytes.Join(slices.Insert(slices.Clone(lines), i, lines[i]), nil))
		if i < 5 {
			check(t, "removed", bytes.Join(slices.Delete(slices.Clone(lines), i, i+1), nil))
		}
	}
}

func TestDamagedLogIsReadOnly(t *testing.T) {
	path := write(t, Config{}, 3)
	altered, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	second := bytes.IndexByte(altered, '\n') + 1
	altered[second+40] ^= 1
	if err := os.WriteFile(path, altered, 0o600); err != nil {
		t.Fatal(err)
	}
	l, found, err := Open(Config{Path: path})
	if err != nil || found.Damage == nil {
		t.Fatalf("open: %+v, %v", found, err)
	}
	if found.Damage.Line != 2 || found.Damage.Offset != int64(second) || found.Records != 1 {
		t.Errorf("found %+v, want line 2 at %d", found.Damage, second)
	}
	var damage *DamagedError
	if _, err := l.Append(event{}); !errors.As(err, &damage) {
		t.Errorf("append: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, altered) {
		t.Errorf("the file was changed (%v)", err)
	}
}

func TestTornRecordIsCut(t *testing.T) {
	path := write(t, Config{Now: fixed}, 3)
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	third := bytes.LastIndexByte(sound[:len(sound)-1], '\n') + 1
	for end := third + 1; end < len(sound); end++ {
		if err := os.WriteFile(path, sound[:end], 0o600); err != nil {
			t.Fatal(err)
		}
		all, err := read(path)
		var torn *TornError
		if !errors.As(err, &torn) || torn.Offset != int64(third) || torn.Bytes != int64(end-third) || len(all) != 2 {
			t.Fatalf("cut at %d: %d records, %v", end, len(all), err)
		}
		l, found, err := Open(Config{Path: path, Now: fixed})
		if err != nil || found.Cut != int64(end-third) || found.Records != 2 {
			t.Fatalf("cut at %d: %+v, %v", end, found, err)
		}
		if seq, err := l.Append(event{N: 9}); err != nil || seq != 3 {
			t.Fatalf("append: %d, %v", seq, err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if all, err := read(path); err != nil || len(all) != 3 {
			t.Fatalf("cut at %d, appended: %d records, %v", end, len(all), err)
		}
	}
}

func TestPageLostToPowerIsTorn(t *testing.T) {
	path := write(t, Config{}, 3)
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(sound) - 60; i < len(sound)-1; i++ {
		sound[i] = 0
	}
	if err := os.WriteFile(path, sound, 0o600); err != nil {
		t.Fatal(err)
	}
	l, found, err := Open(Config{Path: path})
	if err != nil || found.Damage != nil || found.Cut == 0 || found.Records != 2 {
		t.Fatalf("%+v, %v", found, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestLivesOfALog appends, reopens, tears and rotates at random and compares with a list.
func TestLivesOfALog(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		cfg := Config{Path: filepath.Join(dir, "log"), MaxBytes: rapid.SampledFrom([]int64{0, 1, 300}).Draw(rt, "max")}
		want := 0
		for range rapid.IntRange(1, 5).Draw(rt, "lives") {
			l, found, err := Open(cfg)
			if err != nil || found.Damage != nil {
				rt.Fatalf("open: %+v, %v", found, err)
			}
			for range rapid.IntRange(0, 6).Draw(rt, "appends") {
				want++
				if seq, err := l.Append(event{N: want}); err != nil || seq != int64(want) {
					rt.Fatalf("append %d: %d, %v", want, seq, err)
				}
			}
			if err := l.Close(); err != nil {
				rt.Fatal(err)
			}
			torn := rapid.SliceOfN(rapid.ByteRange('a', 'z'), 0, 5).Draw(rt, "torn")
			f, err := os.OpenFile(cfg.Path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				rt.Fatal(err)
			}
			_, err = f.Write(torn)
			if err := errors.Join(err, f.Close()); err != nil {
				rt.Fatal(err)
			}
		}
		if all, err := read(cfg.Path); len(all) != want || err != nil && !errors.Is(err, ErrTorn) {
			rt.Fatalf("%d records, want %d: %v", len(all), want, err)
		}
	})
}

func TestFollow(t *testing.T) {
	cfg := Config{Path: filepath.Join(t.TempDir(), "log"), MaxBytes: 400}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	got := make(chan Record)
	ended := make(chan error, 1)
	go func() {
		for r, err := range Follow(ctx, cfg.Path, 3) {
			if err != nil {
				ended <- err
				return
			}
			got <- r
		}
		ended <- nil
	}()
	l, _, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if _, err := l.Append(event{N: i}); err != nil {
			t.Fatal(err)
		}
		if i < 2 {
			continue
		}
		select {
		case r := <-got:
			if r.Seq != int64(i+1) {
				t.Fatalf("record %d, want %d", r.Seq, i+1)
			}
		case err := <-ended:
			t.Fatalf("ended at %d: %v", i, err)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("ended with %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"seq":1,"ts":"2026-01-02T03:04:05.678901Z","type":"first","n":1,"sum":"`+vector1+`"}`), uint32(0))
	f.Add([]byte(`,"sum":"00000000"}`), uint32(0))
	f.Add([]byte(`{"seq":1,"ts":"","sum":"00000000"}`), uint32(7))
	f.Fuzz(func(t *testing.T, line []byte, prev uint32) {
		r, _, reason := parse(line, prev)
		if reason == "" && (r.Seq < 1 || len(r.Data) < 2) {
			t.Errorf("accepted %q as %+v", line, r)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	l, err := Create(Config{Path: filepath.Join(b.TempDir(), "log")})
	if err != nil {
		b.Fatal(err)
	}
	e := event{Type: "action_selected", N: 7, Text: string(bytes.Repeat([]byte("x"), 300))}
	for b.Loop() {
		if _, err := l.Append(e); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkRead(b *testing.B) {
	const n = 10_000
	path := write(b, Config{}, n)
	for b.Loop() {
		if all := 0; true {
			for _, err := range Read(path) {
				if err != nil {
					b.Fatal(err)
				}
				all++
			}
			if all != n {
				b.Fatal(all)
			}
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}
