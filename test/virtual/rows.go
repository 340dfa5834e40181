package virtual

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
)

// Rows are the rows of a table that share one scenario. A bubble of virtual time has no subtests, so their results are reported as subtests
// after it.
type Rows struct {
	scenario *Scenario
	results  []*rowResult
}

// PlayRows plays a story with rows in virtual time, and reports each row as a subtest.
func PlayRows(t *testing.T, play func(t *testing.T, story func(s *Scenario)), story func(s *Scenario, rows *Rows)) {
	t.Helper()
	rows := &Rows{}
	play(t, func(s *Scenario) {
		rows.scenario = s
		story(s, rows)
	})
	for _, result := range rows.results {
		t.Run(result.name, func(t *testing.T) {
			for _, line := range result.lines {
				t.Log(line)
			}
			if result.failed {
				t.Fail()
			}
		})
	}
}

// Play plays a row, and reports whether it passed.
func (r *Rows) Play(name string, row func()) bool {
	result := &rowResult{TB: r.scenario.T, name: name}
	before := r.scenario.T
	r.scenario.T = result
	defer func() { r.scenario.T = before }()
	var played sync.WaitGroup
	played.Go(row) // Fatal ends the goroutine of the row only.
	played.Wait()
	r.scenario.plans.change(false)()
	r.scenario.plans.flush()
	r.results = append(r.results, result)
	return !result.Failed()
}

// rowResult is the testing.TB of a row. It keeps messages and failures.
type rowResult struct {
	testing.TB
	name string

	mu     sync.Mutex
	lines  []string
	failed bool
}

// Log implements testing.TB, as do the following.
func (r *rowResult) Log(args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, fmt.Sprint(args...))
}

func (r *rowResult) Fail() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = true
}

func (r *rowResult) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

func (r *rowResult) FailNow() {
	r.Fail()
	runtime.Goexit()
}

func (r *rowResult) Helper()                           {}
func (r *rowResult) Logf(format string, args ...any)   { r.Log(fmt.Sprintf(format, args...)) }
func (r *rowResult) Error(args ...any)                 { r.Log(args...); r.Fail() }
func (r *rowResult) Errorf(format string, args ...any) { r.Logf(format, args...); r.Fail() }
func (r *rowResult) Fatal(args ...any)                 { r.Log(args...); r.FailNow() }
func (r *rowResult) Fatalf(format string, args ...any) { r.Logf(format, args...); r.FailNow() }
