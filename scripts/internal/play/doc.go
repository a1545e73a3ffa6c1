// Package play makes a metrics page of one moment move: in flow a fixture, a state
// and a time, out flows the page that the engine would print then. It is pure: no
// clock, no socket, no file but what Load reads.
//
// # Fixtures
//
// A fixture is a valid text exposition as the engine prints it in state loaded, at
// second 0. What moves is said by comment lines that begin with "#>". Parsers ignore
// them, and they are left out of the pages. All else is printed byte for byte as it
// stands: order, HELP and TYPE lines, blank lines, labels, line ends, a missing final
// newline. Only the value of a series that moved is written anew.
//
// A directive stands directly before what it is about:
//
//   - before a series line: that series alone (of a histogram: all lines of its label set)
//   - before the HELP or TYPE line of a family: all of the family's series
//
// Both may be there; the line's own replaces the family's. Directives that follow
// each other are read as one line. Words are parted by blanks.
//
//	#> +12.5/s                        a counter grows by that much a second
//	#> +12.5/s saturated +20/s        and by another rate while saturated (else: the same)
//	#> idle 0 saturated 64            a gauge's value in these states; one that is left out: as it stands
//	#> idle absent                    the line is not there in this state (idle, saturated, restarted)
//	#> restarted 0                    a gauge's value after a restart (else: as it stands)
//	#> histogram 3/s around 0.25      3 observations a second whose mean is 0.25, in the unit of the bounds
//	#> histogram 3/s around 0.25 saturated 2.5/s around 4.5
//	#> histogram 3/s around 512 spread 0.8 whole
//	#> follows NAME x 0.8             a counter grows 0.8 times as much as the series NAME
//	#> follows NAME{label="v"} x 0.8  and as those with that label
//	#> started                        the value is the Unix time when the process began
//	#> note any words                 nothing: a remark that is not printed
//
// These are about the page and stand anywhere on a line of their own:
//
//	#> up 3h                          how long the process ran at second 0 (else: 1h)
//	#> numbers python                 how values from here on are written
//
// Rates and numbers are Go's floats without a sign, durations Go's durations. A value
// after idle, saturated or restarted may be NaN, +Inf or -Inf, and have a sign.
//
// Counters. While loaded or saturated a series with +R/s grows by R times the seconds
// that passed, whatever its TYPE says. Growth is cut to whole numbers when the
// fixture's value is whole: 7.0 and 80 are, 12.25 is not. A series of a family whose
// TYPE is counter, histogram or summary and that has no directive stands still.
//
// Histograms. Observations lie around their mean with a fixed pattern of 20, which
// repeats: a lognormal one with the standard deviation of the logarithm that spread
// gives (0.35 when left out; 0: all are equal). With whole they are rounded to whole
// numbers, for lengths and counts. Buckets are those of the page; _sum, _count and
// +Inf go with them. Each label set of a family gets the observations said for the
// family. "_sum" before "_bucket", no "+Inf", no "_count": all are taken. It is an
// error when the buckets of a histogram that moves fall, or differ from its _count. A
// family is a histogram when its TYPE line says so.
//
// Follows. The growth of a series is F times that of NAME: of the series with the same
// labels when there is one, else of all with that name added up. NAME is a line's name
// as it stands, also a histogram's (request_generation_tokens_sum). It does not follow
// itself, and must move.
//
// Numbers. Without a numbers line a value is written as its family writes: "7.0" or
// "1.0777853952e+010" on one of its lines means python, and a family that tells
// nothing is written as the page's other families: python when one of them is, else go
// when an exponent occurs, else plain. Say it when a page comes from several exporters.
//
//	python   client_python: 7.0, 1.0777853952e+010
//	go       client_golang, Go's %g: 7, 1.0777853952e+10
//	plain    Rust: shortest decimals, no exponent: 7, 10777853952
//	g6       C's %g with 6 significant digits (g1 to g17): 7, 1.07779e+10
//	f6       fixed decimals (f0 to f9): 7.000000
//
// # States
//
//	idle        counters stand still; gauges have their idle value
//	loaded      counters grow; gauges are as they stand
//	saturated   counters grow, by their saturated rate; gauges have their saturated value
//	restarted   loaded until the moment of the restart (At: second 5); then all counters,
//	            histograms and summaries begin again at 0 and grow as when loaded, gauges
//	            have their restarted value, and process_start_time_seconds, *_created and
//	            what is marked started become the moment of the restart
//	stale       all stands as it was: counters stand still, gauges keep saying that
//	            sequences run
//
// Errors name the file and the line. Tests of other folders, which cannot import an
// internal package, get pages by scripts/playtest.
package play
