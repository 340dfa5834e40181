package reliability_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"unicode"

	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

var (
	replayed = flag.String("replay", "", "file with a life that TestReplay lives")
	written  = flag.String("write", "", "directory to which the test file of a failed explored life is written; by default it is in the log only")
)

// life is an explored life: a story, and the decisions about it.
type life struct {
	Story     string
	Decisions []virtual.Decision
}

// replayLife lives a story with the given decisions.
func replayLife(t *testing.T, story string, decisions ...virtual.Decision) {
	t.Helper()
	stages, undisturbed := plantedStages(), []ended(nil)
	if story != plantedStory {
		stages, undisturbed = findLife(t, story)
	}
	synctest.Test(t, func(t *testing.T) { playExplored(t, stages, undisturbed, virtual.NewReplay(decisions)) })
}

// TestReplay lives the life of a file, for the reduction of failures. A test that fails in a bubble fails with its process only.
func TestReplay(t *testing.T) {
	if *replayed == "" {
		return
	}
	raw, err := os.ReadFile(*replayed)
	if err != nil {
		t.Fatal(err)
	}
	var of life
	if err := json.Unmarshal(raw, &of); err != nil {
		t.Fatal(err)
	}
	replayLife(t, of.Story, of.Decisions...)
}

// failsAgain reports whether a life fails in a process of its own.
func failsAgain(t *testing.T, of life) bool {
	t.Helper()
	file := filepath.Join(t.TempDir(), "life.json")
	raw, err := json.Marshal(of)
	if err == nil {
		err = os.WriteFile(file, raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestReplay$", "-replay="+file).Run() != nil
}

// describeFailure reduces the decisions of a failed life, and returns a test file with them.
func describeFailure(t *testing.T, story string, seed uint64, explorer *virtual.Explorer) string {
	t.Helper()
	decisions := explorer.Decisions()
	fails := func(some []virtual.Decision) bool { return failsAgain(t, life{story, some}) }
	if !fails(decisions) {
		return fmt.Sprintf("the %d decisions of the seed do not fail in a process of their own", len(decisions))
	}
	source := newTestFile(story, seed, virtual.Minimize(decisions, fails))
	if *written == "" {
		return "a test file with the decisions that the failure needs:\n" + source
	}
	name := filepath.Join(*written, fmt.Sprintf("found_%s_%d_test.go", strings.ToLower(strings.Join(wordsOf(story), "_")), seed))
	if err := os.WriteFile(name, []byte(source), 0o600); err != nil {
		t.Error(err)
	}
	return "wrote " + name
}

// wordsOf returns the words of the name of a story, without what a name in Go cannot have.
func wordsOf(story string) []string {
	return strings.FieldsFunc(story, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// newTestFile returns a test file for this package that lives a story with the given decisions.
func newTestFile(story string, seed uint64, decisions []virtual.Decision) string {
	var out strings.Builder
	title := ""
	for _, word := range wordsOf(story) {
		title += strings.ToUpper(word[:1]) + word[1:]
	}
	fmt.Fprintf(&out, `package reliability_test

import (
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestFound%s%d replays the decisions of seed %d that made the story %q fail.
func TestFound%s%d(t *testing.T) {
	replayLife(t, %q,
`, title, seed, seed, story, title, seed, story)
	for _, each := range decisions {
		fmt.Fprintf(&out, "\t\tvirtual.Decision{Of: %q, Nth: %d", each.Of, each.Nth)
		if each.Delay > 0 {
			fmt.Fprintf(&out, ", Delay: %d", each.Delay)
		}
		if each.Disturbance != "" {
			fmt.Fprintf(&out, ", Disturbance: %q", string(each.Disturbance))
		}
		out.WriteString("},\n")
	}
	out.WriteString("\t)\n}\n")
	return out.String()
}
