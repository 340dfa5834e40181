package reliability_test

import (
	"flag"
	"hash/fnv"
)

// sample is how many rows there are for one that make test tries.
const sample = 120

// firstSeed and seeds choose the explored lives.
var (
	firstSeed = flag.Uint64("seed", 1, "first seed of the explored lives")
	shown     = flag.Int("shown", 40, "how many of the last choices of a failed explored life are shown")
	seeds     = flag.Uint64("seeds", 1, "number of seeds with which each life is explored")
)

var every = flag.Int("every", sample, "one of how many rows is tried; of all stories, when it is less than the default")

// isWide reports whether all stories are lived, and not only the one that is each test's sample.
func isWide() bool { return *every < sample }

// isDrawn reports whether a row is one of those that are tried. They are the same at each run.
func isDrawn(row string) bool {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(row))
	return hash.Sum32()%uint32(*every) == 0
}
