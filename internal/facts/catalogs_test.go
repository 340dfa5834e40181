package facts

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestCatalogIsShared(t *testing.T) {
	ctx := context.Background()
	a := newFakeAzure(regionBodies)
	a.hold = make(chan struct{})
	clock := newClock()
	facts := New(Options{Now: clock.Now})
	caller := newCaller(t, a, "p")
	worker := machineInput("m0")
	worker.ControlPlane = false

	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := facts.clusterCatalog(cancelled, caller, worker.ClusterInput); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that gave up got %v", err)
	}
	var group sync.WaitGroup
	for range 10 {
		group.Go(func() {
			if catalog, err := facts.clusterCatalog(ctx, caller, worker.ClusterInput); err != nil || len(catalog.sizes) != 3 {
				t.Errorf("got %v, %v", catalog, err)
			}
		})
	}
	close(a.hold)
	group.Wait()
	if n := a.countRequests(skusPath); n != 1 {
		t.Errorf("callers at the same time, one of which gave up, made %d requests", n)
	}

	ask := func(principal string, want int, why string) {
		t.Helper()
		if _, err := facts.clusterCatalog(ctx, newCaller(t, a, principal), worker.ClusterInput); err != nil {
			t.Fatal(err)
		}
		if n := a.countRequests(skusPath); n != want {
			t.Errorf("%s: %d requests, want %d", why, n, want)
		}
	}
	ask("p", 1, "kept")
	ask("q", 2, "restrictions differ between principals' subscriptions and are not shared")
	clock.advanceTime(23 * time.Hour)
	ask("p", 2, "kept for a day")
	clock.advanceTime(time.Hour)
	ask("p", 3, "asked again after a day")
}

// TestManyCatalogsArriveOnce lets ten workers reconcile clusters with an identity each, whose catalogs arrive at the same time.
func TestManyCatalogsArriveOnce(t *testing.T) {
	const clusters, workers = 200, 10
	for name, test := range map[string]struct {
		reason string
		kept   int
	}{
		"all are kept":         {"the cache has room for many identities", maxCatalogs},
		"fewer than asked for": {"a catalog stays until its cluster has used it, however many others arrive", 16},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newFakeAzure(regionBodies)
				a.hold = make(chan struct{})
				f := New(Options{Catalogs: newCatalogs(24*time.Hour, test.kept, time.Now)})
				queue, known := make(chan int, 2*clusters), make(chan int, clusters)
				askers, asked := make([]Caller, clusters), atomic.Int32{}
				for i := range clusters {
					askers[i] = newCaller(t, a, fmt.Sprint("p", i))
					queue <- i
				}
				for range workers {
					go func() {
						for i := range queue {
							if asked.Add(1) > 2*clusters {
								t.Errorf("%s: a cluster asks more than twice", test.reason)
								return
							}
							got, err := f.ClusterFacts(t.Context(), askers[i], clusterInput(nil), func() { queue <- i })
							if err != nil {
								t.Error(err)
							}
							if !got.ZonesPending {
								known <- i
							}
						}
					}()
				}
				synctest.Wait()
				close(a.hold)
				synctest.Wait()
				if lists := a.countRequests(skusPath); len(known) != clusters || lists != clusters {
					t.Errorf("%s: %d of %d clusters know their catalog after %d lists", test.reason, len(known), clusters, lists)
				}
				close(queue)
			})
		})
	}
}

// TestFactsShareCatalogs checks that Facts with the same Catalogs list the VM sizes of a region once.
func TestFactsShareCatalogs(t *testing.T) {
	a, clock := newFakeAzure(regionBodies), newClock()
	caller, worker := newCaller(t, a, "p"), machineInput("m0")
	worker.ControlPlane = false
	catalogs := NewCatalogs(48*time.Hour, clock.Now)
	for at, want := range []int{1, 1, 2} {
		facts := New(Options{Now: clock.Now, Catalogs: catalogs})
		if catalog, err := facts.clusterCatalog(t.Context(), caller, worker.ClusterInput); err != nil || len(catalog.sizes) != 3 {
			t.Fatalf("got %v, %v", catalog, err)
		}
		if n := a.countRequests(skusPath); n != want {
			t.Errorf("after Facts number %d there were %d requests, want %d", at+1, n, want)
		}
		clock.advanceTime(24 * time.Hour)
	}
}

// TestCatalogsShareSizes checks that equal sizes of a region are in memory once, whichever identity lists them, and leave it with their
// catalogs. The catalogs belong to the identities: each one lists its own.
func TestCatalogsShareSizes(t *testing.T) {
	now := newClock()
	catalogs := NewCatalogs(time.Hour, now.Now)
	catalogs.sizes = newSizePool()
	read := func(principal string, azure map[string]string) *catalog {
		t.Helper()
		bodies := maps.Clone(regionBodies)
		maps.Copy(bodies, azure)
		got, err := New(Options{Now: now.Now, Catalogs: catalogs}).clusterCatalog(t.Context(), newCaller(t, newFakeAzure(bodies), principal),
			clusterInput(nil))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	func() {
		first, same := read("p", nil), read("q", nil)
		other := read("r", map[string]string{skusPath: strings.Replace(regionBodies[skusPath], `"zones":["3","1","2"]`, `"zones":["1"]`, 1)})
		reordered := read("s", map[string]string{skusPath: strings.Replace(regionBodies[skusPath], `{"resourceType"`, `{ "resourceType"`, -1)})
		if reordered.sizeNamed("Standard_D2s_v5") != first.sizeNamed("Standard_D2s_v5") {
			t.Error("a size is in memory twice because its row has another space")
		}
		for i := range 2 * maxRowsPerSize {
			read(fmt.Sprint("t", i), map[string]string{skusPath: strings.ReplaceAll(regionBodies[skusPath], `{"resourceType"`,
				"{"+strings.Repeat(" ", i+2)+`"resourceType"`)})
		}
		if rows, limit := len(catalogs.sizes.byRow), maxRowsPerSize*len(catalogs.sizes.byContent); rows > limit {
			t.Errorf("%d rows are known, want %d at most", rows, limit)
		}
		for name, want := range map[string]bool{"Standard_D2s_v5": false, "Standard_D4s_v5": true, "Standard_NC6": true} {
			size := first.sizeNamed(name)
			if same.sizeNamed(name) != size {
				t.Errorf("the same %s is in memory twice", name)
			}
			if shared := other.sizeNamed(name) == size; shared != want {
				t.Errorf("%s of an identity with other zones for Standard_D2s_v5: shared %t, want %t", name, shared, want)
			}
		}
	}()
	now.advanceTime(2 * time.Hour)
	catalogs.byKey.Get("") // Expired values leave memory with a call.
	runtime.GC()
	read("p", map[string]string{skusPath: `{"value":[]}`})
	if rows, contents := len(catalogs.sizes.byRow), len(catalogs.sizes.byContent); rows+contents != 0 {
		t.Errorf("%d rows and %d sizes that no catalog has are known", rows, contents)
	}
}
