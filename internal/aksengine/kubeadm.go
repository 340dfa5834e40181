package aksengine

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// The types below are the parts of the kinds of kubeadm that the manifests have, in the contract v1beta2 of Cluster API.

type kubeadmControlPlane struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              kubeadmControlPlaneSpec `json:"spec"`
}

type kubeadmControlPlaneSpec struct {
	Replicas          *int32            `json:"replicas"`
	Version           string            `json:"version"`
	MachineTemplate   machineTemplate   `json:"machineTemplate"`
	KubeadmConfigSpec kubeadmConfigSpec `json:"kubeadmConfigSpec"`
}

type machineTemplate struct {
	Spec struct {
		InfrastructureRef clusterv1.ContractVersionedObjectReference `json:"infrastructureRef"`
	} `json:"spec"`
}

type kubeadmConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              kubeadmConfigSpec `json:"spec"`
}

type kubeadmConfigTemplate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Template struct {
			Spec kubeadmConfigSpec `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
}

type kubeadmConfigSpec struct {
	ClusterConfiguration clusterConfiguration `json:"clusterConfiguration,omitzero"`
	InitConfiguration    nodeConfiguration    `json:"initConfiguration,omitzero"`
	JoinConfiguration    nodeConfiguration    `json:"joinConfiguration,omitzero"`
	Files                []file               `json:"files,omitempty"`
	DiskSetup            diskSetup            `json:"diskSetup,omitzero"`
	Mounts               [][]string           `json:"mounts,omitempty"`
	PreKubeadmCommands   []string             `json:"preKubeadmCommands,omitempty"`
	PostKubeadmCommands  []string             `json:"postKubeadmCommands,omitempty"`
	Users                []user               `json:"users,omitempty"`
}

type clusterConfiguration struct {
	APIServer         apiServer `json:"apiServer,omitzero"`
	ControllerManager component `json:"controllerManager,omitzero"`
	Scheduler         component `json:"scheduler,omitzero"`
	Etcd              etcd      `json:"etcd,omitzero"`
}

type apiServer struct {
	ExtraArgs []argument `json:"extraArgs,omitempty"`
	CertSANs  []string   `json:"certSANs,omitempty"`
}

type component struct {
	ExtraArgs []argument `json:"extraArgs,omitempty"`
}

type etcd struct {
	Local localEtcd `json:"local,omitzero"`
}

type localEtcd struct {
	DataDir   string     `json:"dataDir"`
	ExtraArgs []argument `json:"extraArgs,omitempty"`
}

type argument struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type nodeConfiguration struct {
	NodeRegistration nodeRegistration `json:"nodeRegistration,omitzero"`
	Timeouts         timeouts         `json:"timeouts,omitzero"`
}

type timeouts struct {
	ControlPlaneComponentHealthCheckSeconds int32 `json:"controlPlaneComponentHealthCheckSeconds,omitempty"`
}

type nodeRegistration struct {
	Name             string         `json:"name"`
	CRISocket        string         `json:"criSocket,omitempty"`
	Taints           []corev1.Taint `json:"taints,omitempty"`
	KubeletExtraArgs []argument     `json:"kubeletExtraArgs,omitempty"`
}

type file struct {
	Path        string     `json:"path"`
	Owner       string     `json:"owner"`
	Permissions string     `json:"permissions"`
	ContentFrom fileSource `json:"contentFrom"`
}

type fileSource struct {
	Secret secretKey `json:"secret"`
}

type secretKey struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

type diskSetup struct {
	Filesystems []filesystem `json:"filesystems,omitempty"`
	Partitions  []partition  `json:"partitions,omitempty"`
}

type filesystem struct {
	Device     string   `json:"device"`
	Filesystem string   `json:"filesystem"`
	Label      string   `json:"label"`
	ExtraOpts  []string `json:"extraOpts"`
}

type partition struct {
	Device    string `json:"device"`
	Layout    bool   `json:"layout"`
	Overwrite bool   `json:"overwrite"`
	TableType string `json:"tableType"`
}

type user struct {
	Name              string   `json:"name"`
	Groups            string   `json:"groups,omitempty"`
	Sudo              string   `json:"sudo,omitempty"`
	SSHAuthorizedKeys []string `json:"sshAuthorizedKeys"`
}
