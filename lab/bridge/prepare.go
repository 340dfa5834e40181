package bridge

import (
	"fmt"
	"strings"
)

// prepareEnrolment reads and checks all of the bootstrap data. Its errors are final: the data never changes.
func prepareEnrolment(g guest, inv inventory) (*enrolment, error) {
	script, err := readCustomData(g)
	if err != nil {
		return nil, err
	}
	plan, err := planKubeadm(script)
	if err != nil {
		return nil, err
	}
	// cloud-provider-azure looks the VM up by the Node's name.
	if name := plan.nodeName(g.ComputerName); !strings.EqualFold(name, g.ComputerName) {
		return nil, fmt.Errorf("%s: nodeRegistration.name %q is not the VM's computer name %q: cloud-provider-azure would not find the VM of this Node", plan.ConfigFile, name, g.ComputerName)
	}
	if err := checkAzureJSON(script, g, plan, inv); err != nil {
		return nil, err
	}
	e := &enrolment{guest: g, plan: plan}
	if e.file, err = readFileDiscovery(script, plan); err != nil {
		return nil, err
	}
	if plan.controlPlane() {
		if e.pki, err = readPKI(script, plan.certificatesDir(), externalEtcd(script, plan)); err != nil {
			return nil, err
		}
	}
	id, vm := inv.virtualMachine(g)
	e.node, e.found, err = newNode(g, plan, id, vm)
	return e, err
}

// externalEtcd reports whether etcd runs elsewhere: kubeadm init has it in the ClusterConfiguration, and a join has the
// client certificate in place of the CA's key.
func externalEtcd(script *bootScript, plan *kubeadmPlan) bool {
	if plan.Cluster != nil {
		return plan.Cluster.Etcd.External.IsDefined()
	}
	_, key := script.Files["/etc/kubernetes/pki/etcd/ca.key"]
	_, client := script.Files["/etc/kubernetes/pki/apiserver-etcd-client.crt"]
	return !key && client
}
