package catalog

// Cases are all specs with their flavors.
var Cases = append(quickStarts(), []Case{
	{Spec: "md-scale", Flavor: "default", Family: SelfManaged, Cheap: true},
	{Spec: "rollout", Flavor: "md-rollout", Family: SelfManaged},
	{Spec: "remediation", Flavor: "md-remediation", Family: SelfManaged},
	{Spec: "remediation", Flavor: "control-plane-remediation", Family: SelfManaged},
	{Spec: "kcp-adoption", Flavor: "kcp-adoption", Family: SelfManaged},
	{Spec: "machine-pool", Flavor: "machinepool", Family: SelfManaged, Cheap: true},
	{Spec: "upgrade", Flavor: "default", Family: SelfManaged, ControlPlaneMachines: 1},
	{Spec: "upgrade", Flavor: "upgrade-machinepool", Family: SelfManaged, ControlPlaneMachines: 1},
	{Spec: "upgrade", Flavor: "topology", Family: SelfManaged, ControlPlaneMachines: 1, Variables: class},
	{Spec: "upgrade-ha", Flavor: "default", Family: SelfManaged, ControlPlaneMachines: 3},
	{Spec: "managed-upgrade", Flavor: "aks", Family: AKS},
	{Spec: "managed-upgrade", Flavor: "aks-topology", Family: AKS},
	{Spec: "managed-upgrade", Flavor: "aks-aso", Family: ASO, Cheap: true},
	{Spec: "managed-upgrade", Flavor: "aks-aso-topology", Family: ASO},
	{Spec: "move", Flavor: "default", Family: SelfManaged, Excluded: needsLab},
	{Spec: "move", Flavor: "aks", Family: AKS, Excluded: needsLab},
	{Spec: "clusterctl-upgrade", Flavor: "default", Family: SelfManaged, Excluded: needsLab},
	{Spec: "clusterclass-changes", Flavor: "topology", Family: SelfManaged, Variables: class},
	{Spec: "clusterclass-rollout", Flavor: "topology-rollout", Family: SelfManaged, Variables: class},
	{Spec: "cluster-deletion", Flavor: "topology", Family: SelfManaged, Variables: class},
	{Spec: "node-drain", Flavor: "topology", Family: SelfManaged, Variables: class, Excluded: needsPods},
	{Spec: "autoscaler", Flavor: "topology-autoscaler", Family: SelfManaged, Variables: class, Excluded: needsPods},
	{Spec: "self-hosted", Flavor: "default", Family: SelfManaged, Excluded: needsPods},
	{Spec: "conformance", Flavor: "default", Family: SelfManaged, Excluded: needsPods},
}...)

// quickStarts has the spec that every flavor runs.
func quickStarts() []Case {
	var out []Case
	for _, c := range []Case{
		{Flavor: "default"},
		{Flavor: "aad"},
		{Flavor: "apiserver-ilb", Gate: internalLoadBalancer},
		{Flavor: "azure-bastion"},
		{Flavor: "azure-cni-v1"},
		{Flavor: "dual-stack"},
		{Flavor: "edgezone", Variables: map[string]string{"AZURE_LOCATION": "westus"}},
		{Flavor: "ephemeral"},
		{Flavor: "flatcar"},
		{Flavor: "flatcar-sysext"},
		{Flavor: "ipv6"},
		{Flavor: "machinepool"},
		{Flavor: "machinepool-windows"},
		{Flavor: "nvidia-gpu", Variables: map[string]string{"AZURE_NODE_MACHINE_TYPE": "Standard_NC4as_T4_v3"}},
		{Flavor: "private"},
		{Flavor: "spot"},
		{Flavor: "system-assigned-identity"},
		{Flavor: "topology", Variables: class},
		{Flavor: "user-assigned-identity"},
		{Flavor: "windows"},
		{Flavor: "windows-apiserver-ilb", Gate: internalLoadBalancer},
		{Flavor: "aks", Family: AKS},
		{Flavor: "aks-topology", Family: AKS},
		{Flavor: "aks-aso", Family: ASO},
		{Flavor: "aks-aso-maintenance", Family: ASO},
		{Flavor: "aks-aso-topology", Family: ASO},
	} {
		c.Spec = "quick-start"
		if c.Family == "" {
			c.Family = SelfManaged
		}
		out = append(out, c)
	}
	return out
}

// class names the ClusterClass that clusterctl adds to a Cluster of the flavor topology.
var class = map[string]string{"CLUSTER_CLASS_NAME": "default"}

// internalLoadBalancer is a feature gate that changes the clusters of all flavors.
const internalLoadBalancer = "APIServerILB"

// needsLab excludes specs that start a second lab.
var needsLab = map[string]string{Azure: "starts a second lab as management cluster"}

// needsPods excludes specs whose workload clusters run programs.
var needsPods = map[string]string{Lab: "needs pods, which the lab does not run"}
