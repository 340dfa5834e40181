// Package mistakes_test makes ordinary mistakes of users one at a time, in virtual time: the API server refuses the object, or the object at
// which users look first shows the cause within seconds, with the field or the resource and the value.
package mistakes_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// mistake is one mistake.
type mistake struct {
	reason string
	// prepare is done before anything is applied, with Azure in working order; nil is the default identity.
	prepare func(s *virtual.Scenario)
	// azure changes the options of the simulated Azure.
	azure func(*server.Options)
	// apply makes the mistake, and returns the error of the API server.
	apply func(s *virtual.Scenario) error
	// look returns the object at which users look first; nil if the API server refuses the mistake.
	look func() (harness.Conditioned, string)
	// want is the reason of the condition Ready, and text are parts of the message.
	want string
	text []string
	// within is the longest time until the cause is shown; 0 is 12 seconds.
	within time.Duration
}

// usual is the time within which most causes are shown.
const usual = 12 * time.Second

// figures collects the figures of all mistakes.
type figures struct {
	mu    sync.Mutex
	lines []string
}

func (f *figures) add(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lines = append(f.lines, fmt.Sprintf(format, args...))
}

// TestMistakes makes each mistake in a management cluster and an Azure of its own.
func TestMistakes(t *testing.T) {
	var shown figures
	all := allMistakes()
	for name, m := range all {
		t.Run(name, func(t *testing.T) {
			azure := server.Options{Seed: 7, Locations: []string{"eastus", "westus"}}
			if m.azure != nil {
				m.azure(&azure)
			}
			virtual.PlayWith(t, virtual.Options{Complete: true, Azure: azure}, func(s *virtual.Scenario) { play(s, name, m, &shown) })
		})
	}
	slices.Sort(shown.lines)
	t.Logf("%d mistakes: the refusal of the API server, or the object that users look at first, the steps to the cause and the virtual seconds:\n%s",
		len(all), strings.Join(shown.lines, "\n"))
}

func play(s *virtual.Scenario, name string, m mistake, shown *figures) {
	t := s.T
	t.Helper()
	if m.prepare == nil {
		m.prepare = func(s *virtual.Scenario) { s.CreateIdentity() }
	}
	m.prepare(s)
	s.StartProvider()
	begun := time.Now()
	err := m.apply(s)
	if m.look == nil {
		if missing := missingText(m, fmt.Sprint(err)); err == nil || len(missing) > 0 {
			t.Errorf("%s: the refusal does not have %q: %v", m.reason, missing, err)
		}
		shown.add("| %s | refused by the API server | 0 | 0 |", name)
		return
	}
	if err != nil {
		t.Fatalf("%s: %v", m.reason, err)
	}
	object, objectName := m.look()
	ready := func() metav1.Condition {
		s.ReadObject(object, objectName)
		return harness.FindCondition(object, infrav1.ReadyCondition)
	}
	s.WaitUntil(fmt.Sprintf("%T %s shows %s", object, objectName, m.want), func() bool {
		shown := ready()
		return shown.Reason == m.want && shown.Status != "True" && len(missingText(m, shown.Message)) == 0
	},
		func() string { return fmt.Sprintf("%+v", object.GetConditions()) })
	took := time.Since(begun)
	if limit := max(usual, m.within); took > limit {
		t.Errorf("%s: the cause is shown after %s, want %s", m.reason, took, limit)
	}
	if stalled := harness.FindCondition(object, infrav1.StalledCondition); status.NeedsAction(m.want) && stalled.Status != "True" {
		t.Errorf("%s: the object is not Stalled: %+v", m.reason, object.GetConditions())
	}
	shown.add("| %s | %T %s: %s | 1 | %.0f |", name, object, objectName, m.want, took.Seconds())
	virtual.WaitForSignal(nil, 30*time.Minute)
	warnings := slices.DeleteFunc(s.ListWarnings(), func(w string) bool {
		return !strings.Contains(w, " "+objectName+": ") || !strings.HasPrefix(w, kindOf(object))
	})
	if len(warnings) > 1 {
		t.Errorf("%s: %d Warnings for one cause:\n%s", m.reason, len(warnings), strings.Join(warnings, "\n"))
	}
}

func kindOf(object client.Object) string {
	_, kind, _ := strings.Cut(fmt.Sprintf("%T", object), ".")
	return kind + " "
}

// missingText returns the parts that a message does not have.
func missingText(m mistake, message string) []string {
	return slices.DeleteFunc(slices.Clone(m.text), func(part string) bool { return strings.Contains(message, part) })
}
