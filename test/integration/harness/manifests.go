package harness

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// PlayCluster plays Cluster API's part for a Cluster of a manifest, once the Cluster and the objects that it refers to exist: the
// AzureCluster of the same name gets its label and owner, each template an owner.
func (s *Stage) PlayCluster(name string, templates ...client.Object) {
	s.T.Helper()
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
	ChangeObject(s, cluster, func(c *clusterv1.Cluster) { controllerutil.AddFinalizer(c, played) })
	azureCluster := &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
	s.setOwner(cluster, azureCluster)
	for _, template := range templates {
		ChangeObject(s, template, func(o client.Object) {
			if err := controllerutil.SetOwnerReference(cluster, o, s.Client.Scheme()); err != nil {
				s.T.Fatal(err)
			}
		})
	}
}

// PlayMachine makes a Machine with its AzureMachine, which have the same name, and plays the parts of Cluster API and a bootstrap
// provider then. format is that of the bootstrap data, cloud-config or ignition; extra are labels of the Machine.
func (s *Stage) PlayMachine(azureMachine *infrav1.AzureMachine, role Role, zone, format string, extra map[string]string) {
	s.T.Helper()
	labels := map[string]string{}
	for key, value := range extra {
		labels[key] = value
	}
	for key, value := range azureMachine.Labels {
		labels[key] = value
	}
	if role == ControlPlane {
		labels[clusterv1.MachineControlPlaneLabel] = ""
	}
	azureMachine.Labels = labels
	s.CreateObject(azureMachine)
	s.createMachine(azureMachine, labels, zone, format)
}

// createMachine makes the Machine of an AzureMachine, zone "" for none, and its bootstrap data in this format, and has it own
// the AzureMachine.
func (s *Stage) createMachine(azureMachine *infrav1.AzureMachine, labels map[string]string, zone, format string) {
	s.T.Helper()
	data := "#cloud-config\n# " + s.NewSecretValue("bootstrap-data") + "\n"
	if format == "ignition" {
		data = `{"ignition":{"version":"2.3.0"},"passwd":{"users":[{"name":"` + s.NewSecretValue("bootstrap-data") + `"}]}}`
	}
	s.GuardEncoded(data)
	s.CreateObject(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: azureMachine.Name, Labels: labels},
		Data:       map[string][]byte{"value": []byte(data), "format": []byte(format)},
	})
	machine := &clusterv1.Machine{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: azureMachine.Name, Labels: labels, Finalizers: []string{played}},
		Spec: clusterv1.MachineSpec{
			ClusterName: labels[clusterv1.ClusterNameLabel], Version: KubernetesVersion, FailureDomain: zone,
			InfrastructureRef: contractReference("AzureMachine", azureMachine.Name),
			Bootstrap:         clusterv1.Bootstrap{DataSecretName: &azureMachine.Name},
		},
	}
	s.CreateObject(machine)
	s.setOwner(machine, azureMachine)
}
