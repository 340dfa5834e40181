package aksengine

import "strings"

// note is the reason why a property has no equivalent, and the action that the user takes instead.
type note struct{ reason, action string }

const newKeys = "It belongs to the old cluster. The new one gets keys and certificates of its own."

// Notes about several properties.
var (
	extensionNote = note{"Extensions of aks-engine are scripts that it runs on machines.",
		"Run them with preKubeadmCommands and postKubeadmCommands, or as vmExtensions."}
	auditNote = note{"The provider does not install auditd.",
		"Install it with preKubeadmCommands, or use an image that has it."}
	poolLoadBalancerNote = note{"aks-engine does not support it for Kubernetes clusters.",
		"Use a Service of the type LoadBalancer."}
	azureCNINote = note{"Azure CNI is installed in the workload cluster.",
		"Choose the version there."}
	windowsBinariesNote = note{"The image of Windows machines has the binaries.",
		"See docs/book/selfmanaged/windows.md."}
	programNote = note{"It is about the program aks-engine.",
		"There is nothing to do."}
)

// notes are by pattern. A note covers everything below its property.
var notes = map[string]note{
	"properties.certificateprofile": {newKeys,
		"To bring keys and certificates, create the Secrets <cluster>-ca, <cluster>-etcd, <cluster>-proxy and <cluster>-sa."},
	"properties.windowsprofile": {"Windows machines have the reference image of the version of Kubernetes, and the user capi.",
		"See docs/book/selfmanaged/windows.md."},
	"properties.extensionprofiles": extensionNote,
	"properties.telemetryprofile":  programNote,
	"properties.featureflags":      programNote,
	"properties.customcloudprofile": {"Azure Stack Hub is not supported.",
		"Set azureEnvironment of the AzureCluster for other clouds, see docs/book/selfmanaged/clouds.md."},
	"properties.linuxprofile.secrets": {"Certificates of a key vault are not copied to machines.",
		"Use the extension KeyVaultForLinux in vmExtensions, or the Secrets Store CSI driver."},
	"properties.linuxprofile.customsearchdomain": {"The provider does not configure the search domain.",
		"Configure it with preKubeadmCommands. Keep the password in a Secret, and take it from there with files[].contentFrom."},
	"properties.linuxprofile.customnodesdns": {"Only the DNS server is read.", "Set dnsServers of the machines."},
	"properties.serviceprincipalprofile.objectid": {"It is for the key vault that aks-engine creates.",
		"See docs/book/selfmanaged/etcd-encryption.md."},
	"properties.servicepricipalprofile": {"It is a misspelt servicePrincipalProfile.", "Correct the model."},
	"properties.hostedmasterprofile": {"The control plane of the new cluster runs on its own machines.",
		"See docs/book/selfmanaged/externally-managed.md."},
	"properties.masterprofile.customfiles": {"The files are on the machine where aks-engine runs.",
		"Create a Secret with them, and refer to it in files[].contentFrom of the KubeadmControlPlane."},
	"properties.masterprofile.cosmosetcd":    {"etcd runs on the control-plane machines.", "There is nothing to do."},
	"properties.masterprofile.auditdenabled": auditNote,
	"properties.masterprofile.extensions":    extensionNote,
	"properties.masterprofile.fqdn": {"The DNS name belongs to the old cluster.",
		"Set frontendIPs[0].publicIP.dnsName of apiServerLB for a certain DNS name."},
	"properties.masterprofile.singleplacementgroup": {"Control-plane machines are not in a scale set.", "There is nothing to do."},
	"properties.masterprofile.subnet":               {"aks-engine computed it for the old cluster.", "There is nothing to do."},
	"properties.masterprofile.oauthenabled":         {"It has no effect in Kubernetes clusters.", "There is nothing to do."},

	"properties.agentpoolprofiles[].singleplacementgroup":        {"Scale sets may have more than 100 machines.", "There is nothing to do."},
	"properties.agentpoolprofiles[].vmssoverprovisioningenabled": {"The provider does not overprovision scale sets.", "There is nothing to do."},
	"properties.agentpoolprofiles[].enablevmssnodepublicip": {"Machines of pools have no public addresses.",
		"Use a MachineDeployment with allocatePublicIP if nodes need them."},
	"properties.agentpoolprofiles[].loadbalancerbackendaddresspoolids": {"The provider does not add machines to other load balancers.",
		"Use a Service of the type LoadBalancer."},
	"properties.agentpoolprofiles[].auditdenabled":             auditNote,
	"properties.agentpoolprofiles[].extensions":                extensionNote,
	"properties.agentpoolprofiles[].preprovisionextension":     extensionNote,
	"properties.agentpoolprofiles[].dnsprefix":                 poolLoadBalancerNote,
	"properties.agentpoolprofiles[].ports":                     poolLoadBalancerNote,
	"properties.agentpoolprofiles[].proximityplacementgroupid": {"The provider does not put machines into proximity placement groups.", "There is nothing to do."},
	"properties.agentpoolprofiles[].vmssname":                  {"The name belongs to the old cluster.", "There is nothing to do."},

	"properties.orchestratorprofile.kubernetesconfig.addons": {"The manifests do not install programs in the workload cluster.",
		"Install it in the workload cluster, for example with Helm."},
	"properties.orchestratorprofile.kubernetesconfig.cloudcontrollermanagerconfig": {"cloud-provider-azure is installed in the workload cluster.",
		"Set the flags in the values of its Helm chart, see docs/book/selfmanaged/addons.md."},
	"properties.orchestratorprofile.kubernetesconfig.dnsserviceip": {"kubeadm chooses the tenth address of the range of Services.", "Change the address in programs that have it in their configuration."},
	"properties.orchestratorprofile.kubernetesconfig.dockerbridgesubnet": {"Machines run containerd, which has no such network.",
		"There is nothing to do."},
	"properties.orchestratorprofile.kubernetesconfig.etcdencryptionkey": {newKeys,
		"Create the encryption configuration as a Secret, see docs/book/selfmanaged/etcd-encryption.md."},
	"properties.orchestratorprofile.kubernetesconfig.etcdversion": {"kubeadm chooses the version of etcd.", "There is nothing to do."},
	"properties.orchestratorprofile.kubernetesconfig.keyvaultsku": {"The provider does not create a key vault.",
		"See docs/book/selfmanaged/etcd-encryption.md."},
	"properties.orchestratorprofile.kubernetesconfig.kubernetesimagebase": {"kubeadm has a registry of its own, registry.k8s.io.",
		"Set clusterConfiguration.imageRepository of the KubeadmControlPlane for a mirror."},
	"properties.orchestratorprofile.kubernetesconfig.mobyversion": {"Machines run containerd.", "There is nothing to do."},
	"properties.orchestratorprofile.kubernetesconfig.containerdversion": {"The image has a version of containerd.",
		"Build an image with another one."},
	"properties.orchestratorprofile.kubernetesconfig.azurecniurllinux":        azureCNINote,
	"properties.orchestratorprofile.kubernetesconfig.azurecniurlwindows":      azureCNINote,
	"properties.orchestratorprofile.kubernetesconfig.azurecniversion":         azureCNINote,
	"properties.orchestratorprofile.kubernetesconfig.customwindowspackageurl": windowsBinariesNote,
	"properties.orchestratorprofile.kubernetesconfig.windowsnodebinariesurl":  windowsBinariesNote,
	"properties.orchestratorprofile.kubernetesconfig.maximumloadbalancerrulecount": {"azure.json has the default, 250.",
		"There is nothing to do if the value is 250 or higher."},
	"properties.orchestratorprofile.kubernetesconfig.userassignedclientid": {"The identity has it.", "There is nothing to do."},
}

// findNote returns the note about a property, or that convert does not know it.
func findNote(pattern string) (reason, action string) {
	for path := pattern; path != ""; {
		if n, ok := notes[path]; ok {
			return n.reason, n.action
		}
		end := max(strings.LastIndex(path, "."), strings.LastIndex(path, "["))
		if end < 0 {
			break
		}
		path = path[:end]
	}
	return "convert does not know this property.",
		"Read the documentation of aks-engine about the property. If the new cluster needs its effect, add it to the manifests."
}
