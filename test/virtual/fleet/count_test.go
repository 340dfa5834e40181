package fleet_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

// counter counts the requests of the simulator's log, which has one in each write.
type counter struct {
	mu     sync.Mutex
	counts counts
}

// counts are numbers of requests to Azure Resource Manager, and of answers 429. offers are the reads of what a subscription offers: VM sizes
// and regions.
type counts struct{ reads, offers, writes, deletes, throttled int }

func (c counts) String() string {
	return fmt.Sprintf("%d reads, %d of them of sizes and regions, %d writes, %d deletions, %d answers 429", c.reads, c.offers, c.writes, c.deletes,
		c.throttled)
}

// Write counts a request.
func (c *counter) Write(line []byte) (int, error) {
	var request server.RequestRecord
	if err := json.Unmarshal(line, &request); err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !strings.HasPrefix(request.URL, "/subscriptions/"):
		return len(line), nil // a token
	case request.Method == http.MethodGet:
		c.counts.reads++
		if path, _, _ := strings.Cut(request.URL, "?"); strings.HasSuffix(path, "/skus") || strings.HasSuffix(path, "/locations") {
			c.counts.offers++
		}
	case request.Method == http.MethodDelete:
		c.counts.deletes++
	default:
		c.counts.writes++
	}
	if request.Status == http.StatusTooManyRequests {
		c.counts.throttled++
	}
	return len(line), nil
}

// take returns the counts since the last call.
func (c *counter) take() counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.counts
	c.counts = counts{}
	return out
}

// processorTime returns the processor time of this process: the clock of a bubble is virtual.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
