package harness

import (
	"context"
	"encoding/base64"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	corev1 "k8s.io/api/core/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// AzureMachinePool returns the pool of the flavor machinepool, in the region of the clusters of AzureCluster.
func (s *Stage) AzureMachinePool(cluster, name string) *infrav1.AzureMachinePool {
	return &infrav1.AzureMachinePool{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name, Labels: map[string]string{clusterv1.ClusterNameLabel: cluster}},
		Spec: infrav1.AzureMachinePoolSpec{
			Location: s.AzureCluster(cluster).Spec.Location,
			Template: infrav1.AzureMachinePoolMachineTemplate{VirtualMachineProfile: infrav1.VirtualMachineProfile{
				VMSize: "Standard_D2s_v3", SSHPublicKey: base64.StdEncoding.EncodeToString([]byte(SSHKey)),
				OSDisk: infrav1.OSDisk{OSType: "Linux", DiskSizeGB: new(int32(30)),
					ManagedDisk: &infrav1.ManagedDiskParameters{StorageAccountType: "Premium_LRS"}},
			}},
		},
	}
}

// CreatePool applies an AzureMachinePool with a MachinePool that refers to it, and plays the parts of Cluster API and a bootstrap
// provider then.
func (s *Stage) CreatePool(azurePool *infrav1.AzureMachinePool, replicas int32) {
	s.T.Helper()
	cluster := azurePool.Labels[clusterv1.ClusterNameLabel]
	azurePool.Labels = nil // Users do not set it.
	s.CreateObject(azurePool)
	s.createPoolData(azurePool.Name)
	machinePool := &clusterv1.MachinePool{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: azurePool.Name,
			Labels: map[string]string{clusterv1.ClusterNameLabel: cluster}, Finalizers: []string{played}},
		Spec: clusterv1.MachinePoolSpec{
			ClusterName: cluster, Replicas: &replicas,
			Template: clusterv1.MachineTemplateSpec{Spec: clusterv1.MachineSpec{
				ClusterName: cluster, Version: "v1.33.2", InfrastructureRef: contractReference("AzureMachinePool", azurePool.Name),
				Bootstrap: clusterv1.Bootstrap{DataSecretName: &azurePool.Name},
			}},
		},
	}
	s.CreateObject(machinePool)
	s.setOwner(machinePool, azurePool)
}

// createPoolData makes the bootstrap data of a pool.
func (s *Stage) createPoolData(name string) {
	s.T.Helper()
	s.CreateObject(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name},
		Data: map[string][]byte{"value": []byte(s.NewSecretValue("#cloud-config " + name))}})
}

// PlayPool plays the parts of Cluster API and a bootstrap provider for a MachinePool of a manifest and its AzureMachinePool of the same
// name.
func (s *Stage) PlayPool(name string) {
	s.T.Helper()
	s.createPoolData(name)
	machinePool := &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
	ChangeObject(s, machinePool, func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Bootstrap.DataSecretName = &name })
	s.ownObjects(machinePool, &infrav1.AzureMachinePool{ObjectMeta: metav1.ObjectMeta{Name: name}})
}

// PlayPoolMachines plays Cluster API's part for the VMs of all pools of the stage until the test ends: it creates a Machine for each,
// reports its Node as Ready once the VM runs, and deletes the VM of a Machine that is being deleted. Each round calls watch with its
// VMs; watch may be nil.
func (s *Stage) PlayPoolMachines(watch func(vms []infrav1.AzureMachinePoolMachine)) {
	s.T.Helper()
	player := PoolPlayer{Client: s.Client, Namespace: s.Namespace, Watch: watch}
	if s.virtual {
		s.Meanwhile = func() { player.PlayOnce(s.T.Context()) }
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for s.T.Context().Err() == nil {
			player.PlayOnce(s.T.Context())
			select {
			case <-s.T.Context().Done():
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	s.T.Cleanup(func() { <-done })
}

// PoolPlayer plays Cluster API's part for the VMs of all pools in a namespace.
type PoolPlayer struct {
	Client    client.Client
	Namespace string
	// Watch is called with the VMs of each round; it may be nil.
	Watch func(vms []infrav1.AzureMachinePoolMachine)
	// Joined returns true once the Node of a running VM has had the time to come, and Drained once that of a Machine that is being
	// deleted has had the time to be drained; nil means that it takes no time.
	Joined, Drained func(client.Object) bool
}

// PlayOnce plays one round. The next round repeats failed steps.
func (p *PoolPlayer) PlayOnce(ctx context.Context) {
	vms, machines := &infrav1.AzureMachinePoolMachineList{}, &clusterv1.MachineList{}
	if p.Client.List(ctx, vms, client.InNamespace(p.Namespace)) != nil ||
		p.Client.List(ctx, machines, client.InNamespace(p.Namespace)) != nil {
		return
	}
	if p.Watch != nil {
		p.Watch(vms.Items)
	}
	of := map[string]*clusterv1.Machine{}
	for i := range machines.Items {
		of[machines.Items[i].Name] = &machines.Items[i]
	}
	there := map[string]bool{}
	for i := range vms.Items {
		vm := &vms.Items[i]
		there[vm.Name] = true
		p.playVM(ctx, vm, of[vm.Name])
	}
	for name, machine := range of {
		if machine.Spec.InfrastructureRef.Kind != "AzureMachinePoolMachine" || machine.DeletionTimestamp.IsZero() || there[name] {
			continue
		}
		before := machine.DeepCopy()
		controllerutil.RemoveFinalizer(machine, played)
		_ = p.Client.Patch(ctx, machine, client.MergeFrom(before))
	}
}

// playVM plays Cluster API's part for one VM.
func (p *PoolPlayer) playVM(ctx context.Context, vm *infrav1.AzureMachinePoolMachine, machine *clusterv1.Machine) {
	switch {
	case machine == nil && vm.DeletionTimestamp.IsZero():
		_ = p.Client.Create(ctx, machineOf(vm))
	case machine == nil:
	case !machine.DeletionTimestamp.IsZero():
		// Cluster API does not drain the Node of an infrastructure machine that is being deleted (isNodeDrainAllowed of v1.14.2).
		if vm.DeletionTimestamp.IsZero() && p.Drained != nil && !p.Drained(machine) {
			return
		}
		before := machine.DeepCopy()
		conditions.Set(machine, metav1.Condition{Type: clusterv1.MachineDeletingCondition, Status: metav1.ConditionTrue,
			Reason: clusterv1.MachineDeletingWaitingForInfrastructureDeletionReason})
		_ = p.Client.Status().Patch(ctx, machine, client.MergeFrom(before))
		_ = p.Client.Delete(ctx, vm)
	case vm.Status.Initialization.Provisioned != nil && !machine.Status.NodeRef.IsDefined():
		if p.Joined != nil && !p.Joined(vm) {
			return
		}
		before := machine.DeepCopy()
		machine.Status.NodeRef = clusterv1.MachineNodeReference{Name: vm.Name}
		conditions.Set(machine, metav1.Condition{Type: clusterv1.MachineNodeReadyCondition, Status: metav1.ConditionTrue,
			Reason: clusterv1.MachineNodeReadyReason})
		_ = p.Client.Status().Patch(ctx, machine, client.MergeFrom(before))
	}
}

// machineOf returns the Machine that Cluster API makes for a VM.
func machineOf(vm *infrav1.AzureMachinePoolMachine) *clusterv1.Machine {
	cluster := vm.Labels[clusterv1.ClusterNameLabel]
	return &clusterv1.Machine{
		ObjectMeta: metav1.ObjectMeta{Namespace: vm.Namespace, Name: vm.Name, Finalizers: []string{played}, Labels: map[string]string{
			clusterv1.ClusterNameLabel: cluster, clusterv1.MachinePoolNameLabel: vm.Labels[clusterv1.MachinePoolNameLabel],
		}},
		Spec: clusterv1.MachineSpec{ClusterName: cluster, InfrastructureRef: contractReference("AzureMachinePoolMachine", vm.Name),
			Bootstrap: clusterv1.Bootstrap{DataSecretName: new("")}},
	}
}

// WaitPool waits until a pool has this many VMs, all of its template.
func (s *Stage) WaitPool(name string, replicas int) *infrav1.AzureMachinePool {
	s.T.Helper()
	return WaitFor(s, &infrav1.AzureMachinePool{}, name, "in place", func(p *infrav1.AzureMachinePool) bool {
		return p.Status.Ready && IsReady(p) && len(p.Spec.ProviderIDList) == replicas &&
			p.Status.ObservedGeneration == p.Generation
	})
}

// DeletePool deletes a pool in the order of Cluster API.
func (s *Stage) DeletePool(name string) {
	s.T.Helper()
	s.deleteObject(&clusterv1.MachinePool{}, name)
	s.deleteObject(&infrav1.AzureMachinePool{}, name)
	s.WaitGone(&infrav1.AzureMachinePool{}, name)
	s.removeFinalizer(&clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: name}})
}
