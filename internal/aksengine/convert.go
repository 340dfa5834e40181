package aksengine

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// Options are values that a model does not have.
type Options struct {
	// Name is the name of the Cluster. The default is dnsPrefix of the masters.
	Name string
	// Namespace is that of all objects; empty for none.
	Namespace string
	// KubernetesVersion is the version of all machines. Versions of aks-engine have no images.
	KubernetesVersion string
	// Location is the Azure region. The default is that of the model.
	Location string
	// SubscriptionID and ResourceGroup are those of the new cluster. The default of the subscription is that of the model's network.
	SubscriptionID, ResourceGroup string
	// TenantID is the tenant of the service principal.
	TenantID string
	// Identity is the name of the AzureClusterIdentity.
	Identity string
}

// Result is a converted model.
type Result struct {
	// Objects are in the order to apply them.
	Objects []any
	// Findings has one finding per value of the model, in its order.
	Findings []Finding
	// Before lists the resources and objects that must exist before the objects are applied.
	Before []string
}

// conversion is a conversion under way.
type conversion struct {
	Options
	root, properties *value
	result           Result

	network network
	login   login
	kube    kubernetes
	pools   []pool
}

var (
	clusterName       = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,42}[a-z0-9]$`)
	kubernetesVersion = regexp.MustCompile(`^v\d+\.\d+\.\d+$`)
)

// Convert converts a model.
func Convert(raw []byte, options Options) (Result, error) {
	root, err := readModel(raw)
	if err != nil {
		return Result{}, err
	}
	if err := checkShape(raw); err != nil {
		return Result{}, err
	}
	c := &conversion{Options: options, root: root, properties: root.get("properties")}
	if err := c.readBasics(); err != nil {
		return Result{}, err
	}
	if err := c.readPools(); err != nil {
		return Result{}, err
	}
	c.readNetwork()
	if c.network.brought != "" && c.network.masters == "" {
		return Result{}, errors.New("properties.masterProfile.vnetSubnetId has no subnet of the network of the pools. Set it, because the cluster has one network")
	}
	c.readLogin()
	c.readKubernetes()
	c.addIdentity()
	c.addCluster()
	c.addControlPlane()
	for _, pool := range c.pools {
		c.addPool(pool)
	}
	c.addScaling()
	c.result.Findings = listFindings(c.root)
	return c.result, nil
}

// readBasics checks that the model is one that can be converted, and completes the options.
func (c *conversion) readBasics() error {
	if version := c.root.get("apiVersion"); version.text() != "vlabs" {
		return errors.New("apiVersion is not vlabs. Only models of this version are converted")
	}
	c.root.get("apiVersion").replace("The version of the format.")
	kind := c.properties.get("orchestratorProfile", "orchestratorType")
	if !kind.isEmpty() && !strings.EqualFold(kind.text(), "Kubernetes") {
		return errors.New("properties.orchestratorProfile.orchestratorType is not Kubernetes. Only Kubernetes clusters are converted")
	}
	kind.replace("Clusters of Cluster API run Kubernetes.")
	if c.properties.get("masterProfile").isEmpty() {
		return errors.New("properties.masterProfile is missing. Only models of whole clusters are converted")
	}
	if c.properties.get("masterProfile", "vmSize").text() == "" {
		return errors.New("properties.masterProfile.vmSize is missing. Set the size of the VMs")
	}
	if !kubernetesVersion.MatchString(c.KubernetesVersion) {
		return fmt.Errorf("the Kubernetes version %q is not a version such as v1.34.2", c.KubernetesVersion)
	}
	for _, key := range []string{"orchestratorRelease", "orchestratorVersion"} {
		c.properties.get("orchestratorProfile", key).replace("The machines get the version of --kubernetes-version.")
	}
	prefix := c.properties.get("masterProfile", "dnsPrefix")
	if c.Name == "" {
		c.Name = strings.ToLower(prefix.text())
	}
	if !clusterName.MatchString(c.Name) {
		return fmt.Errorf("%q is not a valid name of a cluster. Set a name with 2 to 44 lower-case letters, digits and '-'", c.Name)
	}
	prefix.replace("It is the default of the name of the Cluster. The DNS name itself belongs to the old cluster while that exists: " +
		"set frontendIPs[0].publicIP.dnsName of apiServerLB for a certain DNS name.")
	location := c.root.get("location")
	if c.Location == "" {
		c.Location = location.carryText("AzureCluster " + c.Name + ": spec.location")
	} else {
		location.replace("--location takes precedence.")
	}
	if c.Location == "" {
		return errors.New("the model has no location. Set the location")
	}
	return nil
}

// before adds something that has to exist before the objects are applied. It adds it once.
func (c *conversion) before(format string, arguments ...any) {
	line := fmt.Sprintf(format, arguments...)
	if !slices.Contains(c.result.Before, line) {
		c.result.Before = append(c.result.Before, line)
	}
}

func (c *conversion) add(objects ...any) { c.result.Objects = append(c.result.Objects, objects...) }

// readPools reads the names and the kinds of the pools.
func (c *conversion) readPools() error {
	seen := map[string]bool{}
	for _, from := range c.properties.get("agentPoolProfiles").list() {
		name := strings.ToLower(from.get("name").text())
		if len(validation.IsDNS1123Label(name)) > 0 || len(name) > 30 {
			return fmt.Errorf("%s.name is not a valid name of a pool. Use at most 30 lower-case letters, digits and '-'", from.path)
		}
		if seen[name] {
			return fmt.Errorf("%s.name is the name of an earlier pool. Give each pool a name of its own", from.path)
		}
		seen[name] = true
		if from.get("vmSize").text() == "" {
			return fmt.Errorf("%s.vmSize is missing. Set the size of the VMs", from.path)
		}
		from.get("name").carry("name of the objects " + c.Name + "-" + name)
		p := pool{from: from, name: c.Name + "-" + name}
		p.isWindows = strings.EqualFold(from.get("osType").text(), infrav1.WindowsOS)
		p.isDeployment = strings.EqualFold(from.get("availabilityProfile").text(), availabilitySet)
		c.pools = append(c.pools, p)
	}
	return nil
}

// newReference returns a reference to an object of a group.
func newReference(group, kind, name string) clusterv1.ContractVersionedObjectReference {
	return clusterv1.ContractVersionedObjectReference{APIGroup: group, Kind: kind, Name: name}
}
