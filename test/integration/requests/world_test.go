// Package requests_test counts what clusters cost, exactly: the requests to Azure from nothing to Ready, of an hour in which nothing
// happens, and of a deletion, and what AKS clusters of documents cost that are changed, moved, or lose their manager. Time is virtual
// and Azure as fast as the real one, so that counts and durations are the same on any computer.
package requests_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/kubernetes/fake"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azureasomanagedcluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azureasomanagedcontrolplane"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azureasomanagedmachinepool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azurecluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azuremachine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azuremanagedcluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azuremanagedcontrolplane"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azuremanagedmachinepool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/pass"
	"sigs.k8s.io/cluster-api-provider-azure/internal/webhook"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// booting is how long a control plane machine takes to be a Node, from when its VM runs: the median of facts about kubeadm.
const booting = 90 * time.Second

type world struct {
	*virtual.World
	// meanwhile is called again and again while something is waited for; nil is nothing.
	meanwhile func()
}

// newWorld is a world without a manager.
func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{World: virtual.New(t, server.Options{Locations: []string{"eastus"}, Seed: 7})}
}

// start starts a manager with the controllers of all clusters.
func (w *world) start() *virtual.Manager {
	w.T.Helper()
	return w.startDoomed(0, false)
}

// startDoomed is start of a manager that dies at its nth write to Azure, 0 for never.
func (w *world) startDoomed(n int, before bool) *virtual.Manager {
	w.T.Helper()
	return w.Start(func(ctx context.Context, m *virtual.Manager) error {
		m.DieAtWrite(n, before)
		options := controller.Options{SkipNameValidation: new(true), MaxConcurrentReconciles: 10}
		network := &azurecluster.Kind{Client: m.GetClient(), Facts: m.Facts}
		if err := pass.New(m.Services, network).SetupWithManager(ctx, m, options); err != nil {
			return err
		}
		machines := &azuremachine.Kind{Client: m.GetClient(), Engine: m.Engine, Facts: m.Facts}
		if err := pass.New(m.Services, machines).SetupWithManager(ctx, m, options); err != nil {
			return err
		}
		if err := pass.NewLocal(m.Services, &azuremanagedcluster.Kind{Client: m.GetClient()}).SetupWithManager(ctx, m, options); err != nil {
			return err
		}
		workloads := fake.NewClientset()
		controlPlanes := &azuremanagedcontrolplane.Kind{Client: m.GetClient(), Facts: m.Facts, Workload: func([]byte) (corev1client.ConfigMapsGetter, error) { return workloads.CoreV1(), nil }}
		if err := pass.New(m.Services, controlPlanes).SetupWithManager(ctx, m, options); err != nil {
			return err
		}
		pools := &azuremanagedmachinepool.Kind{Client: m.GetClient(), Engine: m.Engine, Facts: m.Facts}
		if err := pass.New(m.Services, pools).SetupWithManager(ctx, m, options); err != nil {
			return err
		}
		if err := pass.New(m.Services, &azureasomanagedcluster.Kind{Client: m.GetClient(), Facts: m.Facts}).SetupWithManager(ctx, m, options); err != nil {
			return err
		}
		if err := pass.New(m.Services, &azureasomanagedcontrolplane.Kind{Client: m.GetClient(), Facts: m.Facts}).SetupWithManager(ctx, m, options); err != nil {
			return err
		}
		ofDocuments := &azureasomanagedmachinepool.Kind{Client: m.GetClient(), Engine: m.Engine, Facts: m.Facts}
		return pass.New(m.Services, ofDocuments).SetupWithManager(ctx, m, options)
	})
}

// until waits until something is so, for an hour at most.
func (w *world) until(what string, so func() bool) {
	w.T.Helper()
	for deadline := time.Now().Add(time.Hour); !so(); {
		if time.Now().After(deadline) {
			requests := w.Azure.Since(0)
			w.T.Fatalf("%s: not so after an hour\n%s", what, strings.Join(requests[max(0, len(requests)-30):], "\n"))
		}
		virtual.Wait(w.Kubernetes.Changed, time.Second)
		if w.meanwhile != nil {
			w.meanwhile()
		}
	}
}

// ready tells whether an object is.
func ready[T client.Object](w *world, object T, name string, is func(T) bool) func() bool {
	return func() bool {
		w.Get(object, name)
		return is(object)
	}
}

// cluster makes one of three control plane machines, one after the other as kubeadm needs it, and of workers.
func (w *world) cluster(name string, workers int) {
	w.T.Helper()
	azureCluster := w.AzureCluster(name)
	webhook.DefaultAzureCluster(azureCluster)
	w.CreateCluster(azureCluster)
	w.until("the network is Ready", ready(w, &infrav1.AzureCluster{}, name, func(c *infrav1.AzureCluster) bool { return harness.Ready(c) }))
	owner := &clusterv1.Cluster{}
	w.Get(owner, name)
	harness.ChangeStatus(w.Stage, owner, func(c *clusterv1.Cluster) { c.Status.Initialization.InfrastructureProvisioned = new(true) })
	var names []string
	for i := range 3 {
		machine := fmt.Sprintf("%s-control-plane-%d", name, i)
		w.machine(name, machine, harness.ControlPlane)
		w.provisioned(machine)
		virtual.Wait(nil, booting)
		if i == 0 {
			for j := range workers {
				names = append(names, fmt.Sprintf("%s-md-0-%d", name, j))
				w.machine(name, names[j], harness.Worker)
			}
		}
	}
	for _, machine := range names {
		w.provisioned(machine)
	}
}

// managed makes an AKS cluster with as many pools.
func (w *world) managed(name string, pools int) {
	w.T.Helper()
	controlPlane := w.ControlPlane(name)
	webhook.DefaultAzureManagedControlPlane(controlPlane)
	var list []harness.ManagedPool
	for i := range pools {
		mode := string(infrav1.NodePoolModeUser)
		if i == 0 {
			mode = string(infrav1.NodePoolModeSystem)
		}
		list = append(list, harness.ManagedPool{Name: fmt.Sprintf("pool%d", i), Mode: mode, Replicas: 2, Change: webhook.DefaultAzureManagedMachinePool})
	}
	w.CreateManagedCluster(controlPlane, list...)
	w.until("the control plane is Ready", ready(w, &infrav1.AzureManagedControlPlane{}, name, func(c *infrav1.AzureManagedControlPlane) bool { return harness.Ready(c) }))
	for _, pool := range list {
		w.until("the pool is Ready", ready(w, &infrav1.AzureManagedMachinePool{}, name+"-"+pool.Name, func(p *infrav1.AzureManagedMachinePool) bool { return harness.Ready(p) }))
	}
}

func (w *world) machine(cluster, name string, role harness.Role) {
	w.T.Helper()
	machine := w.AzureMachine(cluster, name)
	webhook.DefaultAzureMachine(machine, w.Azure.SubscriptionID)
	w.CreateMachine(machine, role, "")
}

func (w *world) provisioned(machine string) {
	w.T.Helper()
	w.until(machine+" is provisioned", ready(w, &infrav1.AzureMachine{}, machine, func(m *infrav1.AzureMachine) bool { return harness.Ready(m) }))
}

// cost is what was asked of Azure.
type cost struct {
	writes, reads, polls int
	// of are reads by what is read.
	of map[string]int
}

func (c cost) String() string {
	var of []string
	for _, key := range slices.SortedFunc(maps.Keys(c.of), func(a, b string) int { return c.of[b] - c.of[a] }) {
		of = append(of, fmt.Sprintf("%s %d", key, c.of[key]))
	}
	return fmt.Sprintf("%d writes, %d reads of which %d ask after operations; %s", c.writes, c.reads, c.polls, strings.Join(of, ", "))
}

// since is what was asked of Azure since a mark.
func (w *world) since(mark harness.Mark) cost {
	out := cost{of: map[string]int{}}
	for _, request := range w.Azure.Requests()[mark:] {
		path, _, _ := strings.Cut(request.URL, "?")
		if !strings.HasPrefix(path, "/subscriptions/") {
			continue // a token
		}
		kind := kindOf(path)
		if request.Method != http.MethodGet && !strings.Contains(kind, "/list") {
			out.writes++
			continue
		}
		out.reads++
		if kind == "operations" {
			out.polls++
		}
		out.of[kind]++
	}
	return out
}

// kindOf is what a path is about: a type, its list, or an operation.
func kindOf(path string) string {
	lower := strings.ToLower(path)
	for _, part := range []string{"/operations/", "/operationresults/", "/operationstatuses/"} {
		if strings.Contains(lower, part) {
			return "operations"
		}
	}
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if i := slices.Index(parts, "providers"); i >= 0 {
		parts = parts[i+2:]
	} else {
		parts = parts[2:]
	}
	name := ""
	for i := 0; i < len(parts); i += 2 {
		name += "/" + parts[i]
	}
	if len(parts)%2 == 1 && !strings.HasPrefix(parts[len(parts)-1], "list") {
		name += " list"
	}
	return strings.TrimPrefix(name, "/")
}

func inVirtualTime(t *testing.T, test func(w *world)) {
	t.Helper()
	unmanaged(t, func(w *world) {
		w.start()
		test(w)
	})
}

// unmanaged is inVirtualTime without a manager.
func unmanaged(t *testing.T, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(newWorld(t)) })
}
