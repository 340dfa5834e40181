package sharedwriters_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// row is an entry that another program writes into a resource of the provider.
type row struct {
	// program, resource and entry are the row of the book's page, verb is how the program writes it.
	program, resource, entry, verb string

	// in is the world of the row, and prepare changes its objects before they are created; nil changes nothing.
	in      func(*testing.T, func(*world, *setup)) *world
	prepare func(*world, *setup)
	// write writes the entry, and kept reports whether it exists.
	write func(*world)
	kept  func(*world) bool
	// change is a change of the spec, for which the provider sends a write that begins with sends, as in "PUT resourceGroups/c1/...". Nil is
	// that nothing of the spec is written to the resource once it exists.
	change func(*world)
	sends  string
	// after checks what else has to be so after the change; nil checks nothing.
	after func(*world)
}

// TestSharedWriters tries each row: the entry stays, nothing is written because of it, and a write that the spec asks for leaves it.
func TestSharedWriters(t *testing.T) {
	for _, r := range listRows() {
		t.Run(r.program+": "+r.resource+": "+r.entry, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { tryRow(r.in(t, r.prepare), r) })
		})
	}
}

func tryRow(w *world, r row) {
	w.T.Helper()
	r.write(w)
	if !r.kept(w) {
		w.T.Fatal("the entry was not written")
	}
	w.checkQuiet("other programs wrote", r)
	if r.change == nil {
		return
	}
	mark := w.Azure.MarkRequests()
	r.change(w)
	w.waitInPlace()
	if writes := w.listWrites(mark); !slices.ContainsFunc(writes, func(write string) bool { return strings.HasPrefix(write, r.sends) }) {
		w.T.Errorf("the spec was changed, and the provider sent %q, want %s", writes, r.sends)
	}
	if r.after != nil {
		r.after(w)
	}
	w.checkQuiet("the provider wrote for a change of the spec", r)
}

// checkQuiet runs a full sync and checks that the provider writes nothing, and that the entry exists.
func (w *world) checkQuiet(since string, r row) {
	w.T.Helper()
	mark := w.Azure.MarkRequests()
	w.syncFully()
	if writes := w.listWrites(mark); len(writes) > 0 {
		w.T.Errorf("since %s, the provider sent %d writes, want 0:\n%s", since, len(writes), strings.Join(writes, "\n"))
	}
	if !r.kept(w) {
		w.T.Errorf("since %s, the entry is gone", since)
	}
}

// listRows returns all entries, those of one program together.
func listRows() []row {
	return slices.Concat(cloudProviderRows(), diskRows(), policyRows(), autoscalerRows(), aksRows())
}
