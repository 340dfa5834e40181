package importing

import (
	"fmt"
	"slices"
	"strings"
)

// addProtected remembers an extension whose protected settings Azure does not show.
func (w *writer) addProtected(extension string) {
	if !slices.Contains(w.protected, extension) {
		w.protected = append(w.protected, extension)
	}
}

// certificates are the Secrets with the certificates of a cluster, by the end of their name, with the files of kubeadm.
// https://cluster-api.sigs.k8s.io/tasks/certs/using-custom-certificates
var certificates = []struct{ end, certificate, key string }{
	{"ca", "ca.crt", "ca.key"}, {"etcd", "etcd/ca.crt", "etcd/ca.key"}, {"proxy", "front-proxy-ca.crt", "front-proxy-ca.key"},
	{"sa", "sa.pub", "sa.key"},
}

// listSteps returns the steps of the user in order.
func (w *writer) listSteps(tags []TagChange) []Step {
	var before []Step
	add := func(why string, commands ...string) { before = append(before, Step{Why: why, Commands: commands}) }
	namespace, name := w.namespaceFlag(), w.id.name
	add(fmt.Sprintf("Create the AzureClusterIdentity %s, with which the manager signs in to Azure. Its right to write is not needed until something changes.", w.Identity))
	if len(tags) > 0 {
		why := "The resources carry the owner tag of objects that are gone. Give them the tag of the new objects, which the annotation of the AzureCluster has."
		if !w.id.tagged {
			why = "The machines do not carry the ownership tag. Give it to those that the cluster is to manage: they are deleted when their objects are deleted."
		}
		var commands []string
		for _, change := range tags {
			for _, key := range sortedKeys(change.Tags) {
				commands = append(commands, fmt.Sprintf("az tag update --operation Merge --resource-id %s --tags %s", quote(string(change.Resource)),
					quote(key+"="+change.Tags[key])))
			}
		}
		add(why, commands...)
	}
	controlPlane := "CONTROL-PLANE-MACHINE"
	if i := slices.IndexFunc(w.machines, func(m *machine) bool { return m.controlPlane }); i >= 0 {
		controlPlane = w.machines[i].ID.Name()
	}
	files := make([]string, 0, len(certificates))
	for _, c := range certificates {
		secret := name + "-" + c.end
		files = append(files,
			fmt.Sprintf("kubectl create secret generic %s%s --type=cluster.x-k8s.io/secret --from-file=tls.crt=pki/%s --from-file=tls.key=pki/%s", secret, namespace, c.certificate, c.key),
			fmt.Sprintf("kubectl label secret %s%s cluster.x-k8s.io/cluster-name=%s", secret, namespace, name))
	}
	files = append(files,
		fmt.Sprintf("kubectl create secret generic %s-kubeconfig%s --type=cluster.x-k8s.io/secret --from-file=value=admin.conf", name, namespace),
		fmt.Sprintf("kubectl label secret %s-kubeconfig%s cluster.x-k8s.io/cluster-name=%s", name, namespace, name))
	add(fmt.Sprintf("Azure does not show the certificates of the cluster and its kubeconfig. Copy /etc/kubernetes/pki and /etc/kubernetes/admin.conf from the control-plane machine %s to this folder, and create the Secrets that Cluster API reads.", controlPlane),
		files...)
	for _, secret := range w.bootstrapSecrets() {
		add(fmt.Sprintf("Machines that are added later boot with the data in the Secret %s. Put a script of cloud-init that joins the cluster into the file join.yaml, as by kubeadm token create --print-join-command, or refer to a KubeadmConfig instead.", secret),
			fmt.Sprintf("kubectl create secret generic %s%s --from-file=value=join.yaml --from-literal=format=cloud-config", secret, namespace))
	}
	w.addControlPlaneSteps(add)
	add("The ranges of pods and services are not in Azure. If Cluster API is to create kubeadm configurations for new machines, set spec.clusterNetwork of the Cluster before you apply it.",
		"kubectl --kubeconfig admin.conf --namespace kube-system get configmap kubeadm-config --output yaml")
	if of := w.azure.Spec.CloudProviderConfigOverrides; of == nil {
		add("Azure does not show azure.json, the configuration of cloud-provider-azure on the machines. Compare it with the Secrets whose names end in -azure-json before new machines use those, and set spec.cloudProviderConfigOverrides where they differ.")
	}
	if len(w.protected) > 0 {
		add("Azure does not show protected settings of extensions. Add them to the template before machines are added: " + strings.Join(w.protected, ", ") + ".")
	}
	before = append(before, w.steps...)
	secrets := []string{name + "-kubeconfig"}
	for _, c := range certificates {
		secrets = append(secrets, name+"-"+c.end)
	}
	why := "The Cluster is paused. When all objects and Secrets exist, and kubectl capz plan shows no change, start it."
	if w.control != nil {
		why += " The second command has to find all Secrets: Cluster API creates new certificates in place of those that are missing."
	}
	return append(before, Step{Why: why,
		Commands: []string{"kubectl apply --filename manifests.yaml", fmt.Sprintf("kubectl get secret %s%s", strings.Join(secrets, " "), namespace),
			fmt.Sprintf("kubectl patch cluster.cluster.x-k8s.io %s%s --type merge --patch '{\"spec\":{\"paused\":false}}'", name, namespace)}})
}

// bootstrapSecrets returns the Secrets with bootstrap data that the objects name.
func (w *writer) bootstrapSecrets() []string {
	var out []string
	for _, p := range w.pools {
		out = append(out, *p.machine.Spec.Template.Spec.Bootstrap.DataSecretName)
	}
	for _, g := range w.groups {
		out = append(out, *g.deployment.Spec.Template.Spec.Bootstrap.DataSecretName)
	}
	return out
}

// quote returns a word for a shell. Names and values of tags in Azure may contain any character.
func quote(word string) string {
	safe := !strings.ContainsFunc(word, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-=:,@", r))
	})
	if safe && word != "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Marked returns tags for the resources of a result by the key of their ID, as they are after the user's commands.
func (r Result) Marked() map[string]map[string]string {
	out := map[string]map[string]string{}
	for _, change := range r.Tags {
		out[change.Resource.Key()] = change.Tags
	}
	return out
}
