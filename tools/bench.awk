# Prints the output of `go test -bench` as one table: package, benchmark, time, and whatever else it reports.

/^pkg: / {
	pkg = $2
	sub(/^github\.com\/autonomy-team\/autonomy\/?/, "", pkg)
	if (pkg == "") pkg = "."
	next
}

/^Benchmark/ && NF >= 4 {
	name = $1
	sub(/^Benchmark/, "", name)
	sub(/-[0-9]+$/, "", name)
	time = bytes = allocs = rest = ""
	for (i = 3; i < NF; i += 2) {
		if ($(i + 1) == "ns/op") time = human($i)
		else if ($(i + 1) == "B/op") bytes = $i
		else if ($(i + 1) == "allocs/op") allocs = $i
		else rest = rest (rest == "" ? "" : ", ") $i " " $(i + 1)
	}
	if (!rows++) printf row, "package", "benchmark", "time/op", "B/op", "allocs", "more"
	printf row, pkg, name, time, bytes, allocs, rest
}

BEGIN { row = "%-28s %-44s %12s %12s %9s  %s\n" }

END { if (!rows) print "no benchmark matched" }

function human(ns) {
	if (ns >= 1e9) return sprintf("%.2f s", ns / 1e9)
	if (ns >= 1e6) return sprintf("%.2f ms", ns / 1e6)
	if (ns >= 1e3) return sprintf("%.2f us", ns / 1e3)
	return sprintf("%.1f ns", ns)
}
