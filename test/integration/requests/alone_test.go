package requests_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// `lab bench` runs the test with these flags: it reads its figures from the simulator's log, as it does with processes.
var (
	figures       = flag.String("figures", "", "folder that gets the simulator's log, and when the phases of TestLeftAlone were")
	aloneClusters = flag.Int("clusters", 2, "how many clusters are left alone")
	aloneMachines = flag.Int("machines", 2, "how many machines each of them has; 0 for AKS clusters")
	alonePools    = flag.Int("pools", 0, "how many pools each AKS cluster has")
	aloneNodes    = flag.Int("nodes", 1, "how many nodes each pool has")
	aloneFor      = flag.Duration("alone", 30*time.Minute, "how long they are left alone")
)

// phase is when something was done.
type phase struct {
	Name string    `json:"name"`
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// TestLeftAlone makes many clusters and leaves them alone: nothing is written then, nothing is throttled, and the reads are in the
// simulator's log.
func TestLeftAlone(t *testing.T) {
	folder := *figures
	if folder == "" {
		folder = t.TempDir()
	}
	file, err := os.Create(filepath.Join(folder, "requests.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	log := bufio.NewWriter(file)
	var made, alone phase
	synctest.Test(t, func(t *testing.T) {
		w := &world{Scenario: virtual.NewWith(t, server.Options{Seed: 7, RequestLog: log})}
		w.StartProvider()
		made = phase{Name: "create", From: time.Now()}
		w.createMany()
		made.To = time.Now()
		// The events that made the last object Ready may still wake others.
		virtual.WaitForSignal(nil, time.Minute)
		alone = phase{Name: "alone", From: time.Now()}
		virtual.WaitForSignal(nil, *aloneFor)
		alone.To = time.Now()
	})
	raw, err := json.Marshal([]phase{made, alone})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "phases.json"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, closed := range []func() error{log.Flush, file.Close} {
		if err := closed(); err != nil {
			t.Fatal(err)
		}
	}
	alone.checkLog(t, file.Name())
}

// checkLog checks the requests of the phase in the simulator's log: the simulator itself does not keep all requests of a day.
func (p phase) checkLog(t *testing.T, log string) {
	t.Helper()
	file, err := os.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	asked := 0
	for decoder := json.NewDecoder(file); ; {
		var request server.RequestRecord
		if err := decoder.Decode(&request); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the simulator's log: %v", err)
		}
		if request.Time.Before(p.From) || !request.Time.Before(p.To) || !strings.HasPrefix(request.URL, "/subscriptions/") {
			continue
		}
		asked++
		if request.Method != http.MethodGet && !strings.Contains(request.URL, "/list") {
			t.Errorf("nothing changed, but Azure was written to: %s %s", request.Method, request.URL)
		}
		if request.Status == http.StatusTooManyRequests {
			t.Errorf("throttled while nothing happens: %s %s", request.Method, request.URL)
		}
	}
	if asked == 0 {
		t.Error("Azure was not asked at all")
	}
	t.Logf("%d requests in %s", asked, p.To.Sub(p.From))
}

// pace is the interval between the creation of clusters; for machines it is a tenth of it. The test measures the time after the creation,
// and the creation should not use up the budget of requests.
const pace = 5 * time.Second

// createMany makes all clusters, and waits until all of their objects and resources exist.
func (w *world) createMany() {
	w.T.Helper()
	name := func(i int) string { return fmt.Sprintf("c%03d", i) }
	if *alonePools > 0 {
		pools := make([]harness.ManagedPool, *alonePools)
		for i := range pools {
			pools[i] = harness.ManagedPool{
				Name: fmt.Sprintf("pool%d", i), Mode: string(infrav1.NodePoolModeUser), Replicas: int32(*aloneNodes),
				Change: defaults.FillAzureManagedMachinePool,
			}
		}
		pools[0].Mode = string(infrav1.NodePoolModeSystem)
		for i := range *aloneClusters {
			controlPlane := w.ControlPlane(name(i))
			defaults.FillAzureManagedControlPlane(controlPlane)
			w.CreateManagedCluster(controlPlane, pools...)
			virtual.WaitForSignal(nil, pace)
		}
		for i := range *aloneClusters {
			w.pollUntil("the control plane",
				virtual.ObjectMatches(w.Scenario, &infrav1.AzureManagedControlPlane{}, name(i),
					func(c *infrav1.AzureManagedControlPlane) bool { return harness.IsReady(c) }))
			for _, pool := range pools {
				w.pollUntil("the pool", virtual.ObjectMatches(w.Scenario, &infrav1.AzureManagedMachinePool{}, name(i)+"-"+pool.Name,
					func(p *infrav1.AzureManagedMachinePool) bool { return harness.IsReady(p) }))
			}
		}
		return
	}
	for i := range *aloneClusters {
		network := w.AzureCluster(name(i))
		defaults.FillAzureCluster(network)
		w.CreateCluster(network)
		virtual.WaitForSignal(nil, pace)
	}
	for i := range *aloneClusters {
		w.pollUntil("the network", virtual.ObjectMatches(w.Scenario, &infrav1.AzureCluster{}, name(i),
			func(c *infrav1.AzureCluster) bool { return harness.IsReady(c) }))
		w.CopyInfrastructure(name(i))
		for j := range *aloneMachines {
			role := harness.Worker
			if j == 0 || j < 3 && *aloneMachines >= 5 {
				role = harness.ControlPlane
			}
			w.ApplyMachine(name(i), fmt.Sprintf("%s-%d", name(i), j), role)
			virtual.WaitForSignal(nil, pace/10)
		}
	}
	for i := range *aloneClusters {
		for j := range *aloneMachines {
			machine := fmt.Sprintf("%s-%d", name(i), j)
			w.pollUntil("the machine", virtual.ObjectMatches(w.Scenario, &infrav1.AzureMachine{}, machine,
				func(m *infrav1.AzureMachine) bool { return harness.IsReady(m) }))
		}
	}
}

// pollUntil checks every second: a check after each event of many clusters would check all the time.
func (w *world) pollUntil(what string, so func() bool) {
	w.T.Helper()
	const patience = 2 * time.Hour
	for deadline := time.Now().Add(patience); !so(); virtual.WaitForSignal(nil, time.Second) {
		if time.Now().After(deadline) {
			requests := w.Azure.RequestsSince(0)
			w.T.Fatalf("%s is not Ready after %s\n%s", what, patience, strings.Join(requests[max(0, len(requests)-30):], "\n"))
		}
	}
}
