package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReadSession reads a /proc with a program whose name has spaces and parentheses, its children, and an unrelated
// program.
func TestReadSession(t *testing.T) {
	proc := t.TempDir()
	for pid, p := range map[int]struct {
		name                      string
		session, user, system     int
		started, resident, atMost int
	}{
		10: {"a program) (x", 10, 150, 50, 7, 2048, 4096},
		11: {"child", 10, 20, 5, 9, 1024, 1024},
		12: {"stranger", 12, 1000, 1000, 3, 9000, 9000},
	} {
		folder := filepath.Join(proc, fmt.Sprint(pid))
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		stat := fmt.Sprintf("%d (%s) S 1 %d %d 0 -1 4194560 1 0 0 0 %d %d 0 0 20 0 1 0 %d 1 1\n", pid, p.name, pid, p.session, p.user, p.system,
			p.started)
		status := fmt.Sprintf("Name:\t%s\nVmHWM:\t%8d kB\nVmRSS:\t%8d kB\nThreads:\t1\n", p.name, p.atMost, p.resident)
		for name, text := range map[string]string{"stat": stat, "status": status} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	got, err := readSession(proc, 10)
	if err != nil {
		t.Fatal(err)
	}
	want := map[lifetime]usage{
		{10, "7"}: {cpu: 2, residentKiB: 2048, residentPeak: 4096}, {11, "9"}: {cpu: 0.25, residentKiB: 1024, residentPeak: 1024},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(lifetime{}, usage{})); diff != "" {
		t.Errorf("processes of the session (-want +got):\n%s", diff)
	}
}

// TestWatcher watches this very process: it has memory, and its time grows with its work.
func TestWatcher(t *testing.T) {
	session, _, errno := syscall.Syscall(syscall.SYS_GETSID, 0, 0, 0)
	if errno != 0 {
		t.Fatal(errno)
	}
	w := &watcher{sessions: func() []int { return []int{int(session)} }, seen: map[lifetime]usage{}}
	before, now, most := w.readUsage()
	for after := before; after == before; after, _, _ = w.readUsage() {
		if t.Context().Err() != nil {
			t.Fatal("no processor time is seen")
		}
	}
	if now <= 0 || most < now {
		t.Errorf("%.1f MiB now and %.1f at most", now, most)
	}
}

func TestThin(t *testing.T) {
	if diff := cmp.Diff([]int{1, 4, 7}, keepEveryNth([]int{1, 2, 3, 4, 5, 6, 7, 8}, 3)); diff != "" {
		t.Errorf("every third (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{1, 2}, keepEveryNth([]int{1, 2}, 3)); diff != "" {
		t.Errorf("few (-want +got):\n%s", diff)
	}
}
