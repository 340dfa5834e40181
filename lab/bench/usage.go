package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Process is the use of memory and time by the processes of a provider, from /proc.
type Process struct {
	// CPUSeconds is user and system time.
	CPUSeconds float64 `json:"cpuSeconds"`
	// PeakMiB is the most resident memory since the processes began, RestMiB that at the end of a rest after the phase.
	PeakMiB float64 `json:"peakMiB"`
	RestMiB float64 `json:"restMiB"`
}

// ticksPerSecond is Linux's USER_HZ, in which /proc counts CPU time on every architecture that Go runs on: proc_pid_stat(5).
const ticksPerSecond = 100

// usage is that of one process at one moment.
type usage struct {
	cpu                       float64
	residentKiB, residentPeak int
}

// lifetime is one process: another one of the same ID began at another time.
type lifetime struct {
	pid     int
	started string
}

// readSession reads the usage of every process of a session. A provider is started in a session of its own, and so all that it starts.
func readSession(proc string, session int) (map[lifetime]usage, error) {
	files, err := filepath.Glob(filepath.Join(proc, "[0-9]*", "stat"))
	if err != nil {
		return nil, err
	}
	out := map[lifetime]usage{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended since
		}
		// The program's name is in parentheses and may have any character, so fields are counted from the last one: proc_pid_stat(5).
		fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
		const (
			sessionField, userField, systemField, startField = 3, 11, 12, 19
		)
		if len(fields) <= startField || fields[sessionField] != strconv.Itoa(session) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			return nil, err
		}
		one := usage{cpu: float64(parseNumber(fields[userField])+parseNumber(fields[systemField])) / ticksPerSecond}
		status, err := os.ReadFile(filepath.Join(filepath.Dir(file), "status"))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(status)) {
			name, value, _ := strings.Cut(line, ":")
			switch name {
			case "VmRSS":
				one.residentKiB = parseNumber(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
			case "VmHWM":
				one.residentPeak = parseNumber(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
			}
		}
		out[lifetime{pid, fields[startField]}] = one
	}
	return out, nil
}

func parseNumber(text string) int {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		return 0
	}
	return n
}

// Sample is one measurement, in seconds since the begin of the watching.
type Sample struct {
	Seconds float64 `json:"seconds"`
	MiB     float64 `json:"mib"`
}

// watcher measures the processes of a provider all the time, because the use of a process cannot be read after its end.
type watcher struct {
	sessions func() []int
	begun    time.Time

	mu      sync.Mutex
	seen    map[lifetime]usage
	now     float64
	most    float64
	samples []Sample
}

// watchInterval is how often processes are looked at: what one takes after the last look before its end is not counted.
const watchInterval = 500 * time.Millisecond

func startWatcher(ctx context.Context, sessions func() []int) *watcher {
	w := &watcher{sessions: sessions, begun: time.Now(), seen: map[lifetime]usage{}}
	go func() {
		tick := time.NewTicker(watchInterval)
		defer tick.Stop()
		for {
			w.sample()
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
	return w
}

func (w *watcher) sample() {
	sum, peaks := 0, 0
	found := map[lifetime]usage{}
	for _, session := range w.sessions() {
		one, err := readSession("/proc", session)
		if err != nil {
			continue
		}
		for life, u := range one {
			found[life] = u
			sum += u.residentKiB
			peaks += u.residentPeak
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for life, u := range found {
		w.seen[life] = u
	}
	w.now = float64(sum) / 1024
	// With one process it is exactly the kernel's own high-water mark; several need not have had theirs at the same time.
	if len(found) > 1 {
		peaks = sum
	}
	w.most = max(w.most, float64(peaks)/1024)
	w.samples = append(w.samples, Sample{Seconds: time.Since(w.begun).Seconds(), MiB: w.now})
}

// readUsage are CPU seconds up to now, resident memory now and the most there was.
func (w *watcher) readUsage() (cpu, now, most float64) {
	w.sample()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, u := range w.seen {
		cpu += u.cpu
	}
	return cpu, w.now, w.most
}

// samplesIn are at most so many samples of a time, which count from its begin.
func (w *watcher) samplesIn(during span, atMost int) []Sample {
	w.mu.Lock()
	defer w.mu.Unlock()
	from, to := during.from.Sub(w.begun).Seconds(), during.to.Sub(w.begun).Seconds()
	var out []Sample
	for _, s := range w.samples {
		if s.Seconds >= from && s.Seconds < to {
			out = append(out, Sample{Seconds: s.Seconds - from, MiB: s.MiB})
		}
	}
	return keepEveryNth(out, atMost)
}

// keepEveryNth keeps every nth so that at most so many are left.
func keepEveryNth[T any](all []T, atMost int) []T {
	if len(all) <= atMost {
		return all
	}
	step := (len(all) + atMost - 1) / atMost
	var out []T
	for chunk := range slices.Chunk(all, step) {
		out = append(out, chunk[0])
	}
	return out
}

// loadAverage returns the load of the computer over the last minute, because durations depend on it.
func loadAverage() string {
	raw, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Fields(string(raw))[0]
}

func formatSeconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
