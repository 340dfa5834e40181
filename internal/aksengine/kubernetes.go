package aksengine

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// kubernetes has the settings of kubernetesConfig that several objects need.
type kubernetes struct {
	usesManagedIdentity bool
	identity            infrav1.ManagedIdentities
	kubelet             kubelet
	apiServer           []bootstrapv1.Arg
	controllerManager   []bootstrapv1.Arg
	scheduler           []bootstrapv1.Arg
}

// kubelet has the settings of the kubelets of a group of machines.
type kubelet struct {
	arguments []bootstrapv1.Arg
	taints    []corev1.Taint
}

// readKubernetes reads kubernetesConfig, except for the network.
func (c *conversion) readKubernetes() {
	config := c.properties.get("orchestratorProfile", "kubernetesConfig")
	c.readManagedIdentity(config)
	controlPlane := "KubeadmControlPlane " + c.Name + "-control-plane: spec.kubeadmConfigSpec.clusterConfiguration."
	c.kube.apiServer = readArguments(config.get("apiServerConfig"), apiServerFlags, controlPlane+"apiServer.extraArgs")
	c.kube.controllerManager = readArguments(config.get("controllerManagerConfig"), controllerManagerFlags,
		controlPlane+"controllerManager.extraArgs")
	c.kube.scheduler = readArguments(config.get("schedulerConfig"), schedulerFlags, controlPlane+"scheduler.extraArgs")
	c.kube.kubelet = readKubelet(config.get("kubeletConfig"), "nodeRegistration of all machines")
	for _, setting := range []struct {
		key, flag string
		low, high int64
	}{{"gcHighThreshold", "image-gc-high-threshold", 0, 100}, {"gcLowThreshold", "image-gc-low-threshold", 0, 100}, {"maxPods",
		"max-pods", 1, 1 << 20}} {
		if n := config.get(setting.key).carryNumber("nodeRegistration of all machines: kubeletExtraArgs."+setting.flag, setting.low,
			setting.high); n != nil {
			setArgument(&c.kube.kubelet.arguments, setting.flag, strconv.Itoa(int(*n)))
		}
	}
	c.readChoices(config)
	c.readEntraID()
}

// readChoices reads settings that are the only choice, or have no equivalent, by their value.
func (c *conversion) readChoices(config *value) {
	for _, choice := range []struct{ key, only, reason, otherwise, action string }{
		{"enableRbac", "true", "kubeadm always enables RBAC.", "RBAC cannot be disabled.", "Bind the roles that the workloads need."},
		{"enableAggregatedAPIs", "true", "kubeadm always enables it.", "It cannot be disabled.", "There is nothing to do."},
		{"enableSecureKubelet", "true", "kubeadm always configures kubelets so.", "It cannot be disabled.", "There is nothing to do."},
		{"useInstanceMetadata", "true", "cloud-provider-azure reads the instance metadata.", "azure.json always enables it.", "There is nothing to do."},
		{"useCloudControllerManager", "true", "cloud-provider-azure runs outside of kube-controller-manager.",
			"Kubernetes no longer has a cloud provider in kube-controller-manager.",
			"Install cloud-provider-azure, see docs/book/selfmanaged/addons.md."},
		{"enablePodSecurityPolicy", "false", "It is disabled.", "Kubernetes removed PodSecurityPolicy in 1.25.",
			"Label namespaces for Pod Security Admission."},
		{"enableDataEncryptionAtRest", "false", "It is disabled.", "Encryption needs a configuration file with a key.",
			"See docs/book/selfmanaged/etcd-encryption.md."},
		{"enableEncryptionWithExternalKms", "false", "It is disabled.",
			"Encryption needs a key vault and a plug-in on control-plane machines.",
			"See docs/book/selfmanaged/etcd-encryption.md."},
		{"kubeProxyMode", "iptables", "It is the default of kube-proxy.", "kubeadm does not have it in its configuration of a cluster.",
			"Set mode in the ConfigMap kube-proxy of the workload cluster."},
		{"excludeMasterFromStandardLB", "true", "Load balancers of Services do not have control-plane machines.",
			"Load balancers of Services do not have control-plane machines.", "There is nothing to do."},
	} {
		v := config.get(choice.key)
		switch {
		case v == nil:
		case v.text() == choice.only, v.scalar == true && choice.only == "true", v.scalar == false && choice.only == "false":
			v.replace(choice.reason)
		default:
			v.report(choice.otherwise, choice.action)
		}
	}
	config.get("loadBalancerSku").replace("All load balancers have the SKU Standard. Azure retires the SKU Basic.")
	runtime := config.get("containerRuntime")
	switch strings.ToLower(runtime.text()) {
	case "docker", "containerd", "":
		runtime.replace("Machines run containerd. Kubernetes no longer runs docker.")
	case "kata-containers":
		runtime.report("The runtime of machines is containerd. Kata Containers is a RuntimeClass beside it.",
			"See docs/book/selfmanaged/kata-containers.md.")
	default:
		runtime.report("Machines run containerd.", "Install the runtime beside it with preKubeadmCommands, and create a RuntimeClass.")
	}
}

// readManagedIdentity reads the identity of the machines.
func (c *conversion) readManagedIdentity(config *value) {
	uses := config.get("useManagedIdentity")
	if c.kube.usesManagedIdentity = uses.isTrue(); !c.kube.usesManagedIdentity {
		uses.replace("Machines use the identity of the cluster, which is the default.")
		return
	}
	uses.carry("identity of the machines")
	name := config.get("userAssignedID")
	if name.isEmpty() || c.SubscriptionID == "" {
		name.report("The ID of the identity needs the subscription, which the model does not have.",
			"Set --subscription, or userAssignedIdentities of the machines.")
		c.kube.identity.Identity = infrav1.VMIdentitySystemAssigned
		c.before("Give the identity of the cluster the right to assign roles: machines get a system-assigned identity with the role Contributor.")
		return
	}
	id := name.text()
	if !strings.HasPrefix(id, "/") {
		group := c.ResourceGroup
		if group == "" {
			group = c.Name
		}
		id = "/subscriptions/" + c.SubscriptionID + "/resourceGroups/" + group + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/" + id
	}
	name.carry("userAssignedIdentities of the machines")
	config.get("userAssignedIDEnabled").carry("identity of the machines")
	c.kube.identity.Identity = infrav1.VMIdentityUserAssigned
	c.kube.identity.UserAssignedIdentities = []infrav1.UserAssignedIdentity{{ProviderID: id}}
	c.before("Create the user-assigned identity of userAssignedID, with the role Contributor on the resource group: docs/book/selfmanaged/vm-identities.md.")
}

// readEntraID reads the logins of users with Entra ID.
func (c *conversion) readEntraID() {
	profile := c.properties.get("aadProfile")
	if profile.isEmpty() {
		return
	}
	target := "KubeadmControlPlane " + c.Name + "-control-plane: spec.kubeadmConfigSpec.clusterConfiguration.apiServer.extraArgs"
	server, tenant := profile.get("serverAppID"), profile.get("tenantID")
	tenantID := tenant.text()
	if tenantID == "" {
		tenantID = c.TenantID
	}
	if server.isEmpty() || tenantID == "" {
		server.report("Logins with Entra ID need the tenant, which the model does not have.",
			"Set --tenant-id, see docs/book/selfmanaged/entra-id.md.")
	} else {
		tenant.carryText(target)
		for _, argument := range [][2]string{
			{"oidc-issuer-url", "https://sts.windows.net/" + tenantID + "/"}, {"oidc-client-id", "spn:" + server.carryText(target)},
			{"oidc-username-claim", "oid"}, {"oidc-username-prefix", "-"}, {"oidc-groups-claim", "groups"},
		} {
			setArgument(&c.kube.apiServer, argument[0], argument[1])
		}
	}
	profile.get("clientAppID").report("Clients sign in with it. The cluster does not know it.",
		"Give it to kubelogin, see docs/book/selfmanaged/entra-id.md.")
	profile.get("adminGroupID").report("Roles are objects of the workload cluster.",
		"Bind the ClusterRole cluster-admin to the group in the workload cluster, see docs/book/selfmanaged/entra-id.md.")
}
