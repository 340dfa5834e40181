package engine_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/test/credential"
)

// runningClock never returns the same time twice, as real clocks.
type runningClock struct {
	*clock
	looks atomic.Int64
}

func (c *runningClock) Now() time.Time {
	return c.clock.Now().Add(time.Duration(c.looks.Add(1)) * time.Microsecond)
}

// azure answers reads of resources that all exist, three in each collection, and counts them.
type azure struct {
	mu    sync.Mutex
	reads map[string]int
	// held blocks answers until it is closed; nil blocks none.
	held chan struct{}
}

func (a *azure) Do(request *http.Request) (*http.Response, error) {
	path := request.URL.Path
	body := fmt.Sprintf(`{"id":%q,"name":"x","properties":{"provisioningState":"Succeeded"}}`, path)
	if strings.HasSuffix(path, "/virtualMachines") {
		body = `{"value":[{"name":"vm-0"},{"name":"vm-1"},{"name":"vm-2"}]}`
	}
	a.mu.Lock()
	a.reads[path[strings.LastIndex(path, "/")+1:]]++
	a.mu.Unlock()
	if a.held != nil {
		<-a.held
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body)), Header: http.Header{},
		Request: request}, nil
}

func (a *azure) newClient(t *testing.T, configuration cloud.Configuration) *client.Client {
	t.Helper()
	c, err := client.New(credential.Token("t"), configuration, client.Options{Principal: "p", Transport: a})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func newVMIDs(count int) []arm.ID {
	var out []arm.ID
	for i := range count {
		out = append(out, arm.NewID(sub, "rg", types.VirtualMachine, fmt.Sprintf("vm-%d", i)))
	}
	return out
}

// TestListedResourcesAreNotReadAgain checks that listed resources are not read once more, even if time passes between the answer and
// its use.
func TestListedResourcesAreNotReadAgain(t *testing.T) {
	w, azure := newWorld(t), &azure{reads: map[string]int{}}
	e := engine.New(engine.Options{Clock: &runningClock{clock: w.clock}})
	found, err := e.Observe(t.Context(), azure.newClient(t, w.cloud), newVMIDs(3), false, engine.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range newVMIDs(3) {
		if !found[id.Key()].Exists {
			t.Errorf("%s was not found", id)
		}
	}
	if len(azure.reads) != 1 || azure.reads["virtualMachines"] != 1 {
		t.Errorf("reads %v, want one list", azure.reads)
	}
}

// TestReadersShareAList lets several readers read a collection before the first answer; it expects one list.
func TestReadersShareAList(t *testing.T) {
	configuration := newWorld(t).cloud
	synctest.Test(t, func(t *testing.T) {
		azure := &azure{reads: map[string]int{}, held: make(chan struct{})}
		e, c := engine.New(engine.Options{}), azure.newClient(t, configuration)
		var readers sync.WaitGroup
		for range 10 {
			readers.Go(func() {
				found, err := e.Observe(t.Context(), c, newVMIDs(3), false, engine.ReadOptions{})
				if err != nil || len(found) != 3 {
					t.Errorf("%v, %v", found, err)
				}
			})
		}
		synctest.Wait()
		if azure.reads["virtualMachines"] != 1 {
			t.Errorf("before the first answer, ten readers sent %v", azure.reads)
		}
		close(azure.held)
		readers.Wait()
		if len(azure.reads) != 1 || azure.reads["virtualMachines"] != 1 {
			t.Errorf("ten concurrent readers sent %v, want one list", azure.reads)
		}
	})
}

// TestMachineCreationKeepsAbsenceOfOthers creates one machine while others are known to be absent.
func TestMachineCreationKeepsAbsenceOfOthers(t *testing.T) {
	w, _ := worldWith(t, append(networkNodes(), nicNode())...)
	w.engine = engine.New(engine.Options{Clock: w.clock, Freshness: time.Hour})
	observe := func() (reads []string) {
		t.Helper()
		if _, err := w.engine.Observe(t.Context(), w.client, newVMIDs(3), false, engine.ReadOptions{}); err != nil {
			t.Fatal(err)
		}
		_, reads = w.listRequests()
		return reads
	}
	if reads := observe(); len(reads) == 0 {
		t.Fatal("no reads were cached, and none were sent")
	}
	if outcome := w.convergeUntilDone(w.newRequest(machineWithNetworkNodes()...), 10*time.Minute); !outcome.IsDone() {
		t.Fatalf("%+v", outcome.RootCauses())
	}
	w.listRequests()
	if reads := observe(); len(reads) > 0 {
		t.Errorf("after the creation of a machine, reads of other absent ones: %v", reads)
	}
}

// TestManyOperationsShareReads creates twenty machines at a time: the number of requests depends on the duration and hardly on the
// number of machines.
func TestManyOperationsShareReads(t *testing.T) {
	const count = 20
	w, _ := worldWith(t, networkNodes()...)
	nodes := networkNodes()
	for i := range count {
		card, machine := nicNode(), vmNode()
		card.ID = arm.NewID(sub, "rg", types.NetworkInterface, fmt.Sprintf("nic-%d", i))
		machine.ID, machine.After = arm.NewID(sub, "rg", types.VirtualMachine, fmt.Sprintf("vm-%d", i)), []arm.ID{card.ID}
		properties := machine.Body.(object)["properties"].(object)
		properties["networkProfile"] = object{"networkInterfaces": []object{{"id": string(card.ID), "properties": object{"primary": true}}}}
		properties["storageProfile"].(object)["osDisk"].(object)["name"] = fmt.Sprintf("vm-%d_OSDisk", i)
		nodes = append(nodes, card, machine)
	}
	w.advanceClock(time.Minute)
	w.listRequests()
	if outcome := w.convergeUntilDone(w.newRequest(nodes...), 10*time.Minute); !outcome.IsDone() {
		t.Fatalf("%+v", outcome.RootCauses())
	}
	_, reads := w.listRequests()
	gets, lists := 0, 0
	for _, read := range reads {
		if strings.HasPrefix(read, "GET rg virtualMachines/") {
			gets++
		} else if read == "GET rg virtualMachines" {
			lists++
		}
	}
	// Before a VM is created it is read by itself, because a list may lag.
	if gets > 2*count || lists > 120 {
		t.Errorf("%d VMs were read %d times one by one and %d times with lists, want at most %d and 120", count, gets, lists, 2*count)
	}
}
