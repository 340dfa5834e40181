package scenario

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
	"sigs.k8s.io/cluster-api-provider-azure/lab/simulator"
)

// cloudProviderPage has the commands and Services of this story.
const cloudProviderPage = "lab.md"

// quietWithServices is the time that a cluster with Services is watched. Both programs compare their resources again
// within seconds.
const quietWithServices = 20 * time.Second

// serviced is a flavor that lives with cloud-provider-azure.
type serviced struct {
	reason string
	// scaled is the object whose replicas cluster-autoscaler changes, without the name of the cluster.
	scaled string
}

// TestCloudProvider runs cloud-provider-azure's controller manager by the commands of the book, beside our manager:
// Services of three kinds come, follow the machines and go, no program writes while nothing changes, and nothing is
// left of the cluster.
func TestCloudProvider(t *testing.T) {
	l := takeLab(t)
	if _, err := os.Stat(l.binaryPath("cloud-controller-manager")); err != nil {
		t.Fatalf("%v: run `make ccm` first", err)
	}
	l.startLab("--bare")
	var group sync.WaitGroup
	for name, s := range map[string]serviced{
		"default":     {reason: "virtual machines have network interfaces of their own", scaled: "machinedeployment/%s-md-0"},
		"machinepool": {reason: "instances have theirs in the model of a scale set", scaled: "machinepool/%s-mp-0"},
	} {
		group.Go(func() {
			t.Run(name, func(t *testing.T) { l.labFor(t, nil).liveWithServices("ccm-"+name, name, s) })
		})
	}
	group.Wait()
	if !t.Failed() {
		l.expectNothingLeft()
	}
}

// liveWithServices is the life of one cluster.
func (l *lab) liveWithServices(cluster, flavor string, s serviced) {
	l.applyManifest(l.generateCluster(cluster, flavor, settings.KubernetesVersion, 2))
	l.runProgram("kubectl", "wait", "cluster/"+cluster, "--for=condition=Available", "--timeout", patience.String())
	kubeconfig := l.workloadKubeconfig(cluster)
	l.awaitNodes(cluster, kubeconfig, 3)

	l.startCloudController(cluster)
	begin := time.Now()
	services := l.servicesOfBook()
	if _, err := l.tryWith(services, "kubectl", "--kubeconfig", kubeconfig, "apply", "-f", "-"); err != nil {
		l.t.Fatal(err)
	}
	l.runProgram("kubectl", "--kubeconfig", kubeconfig, "wait", "services", "public", "internal", "local",
		"--for=jsonpath={.status.loadBalancer.ingress[0].ip}", "--timeout", patience.String())
	l.t.Logf("three Services have addresses after %.1f s (%s)", time.Since(begin).Seconds(), s.reason)
	l.awaitBackends(cluster, 2)
	l.expectNoWrites(cluster)

	scaled := fmt.Sprintf(s.scaled, cluster)
	l.runProgram("kubectl", "scale", scaled, "--replicas", "3")
	l.awaitNodes(cluster, kubeconfig, 4)
	l.awaitBackends(cluster, 3)
	l.scaleInAsAutoscaler(cluster, kubeconfig, scaled)
	l.awaitBackends(cluster, 2)
	l.expectNoWrites(cluster)

	l.runProgram("kubectl", "--kubeconfig", kubeconfig, "delete", "service", "local", "--timeout", patience.String())
	l.eventually("the address of the Service is deleted, and that of the other one exists", func() (bool, string) {
		there := l.publicAddresses(cluster)
		return len(there) == 1, fmt.Sprint(there)
	})
	l.deleteCluster(cluster)
	for _, id := range l.listResources() {
		if strings.Contains(id+"/", "/resourcegroups/"+cluster+"/") {
			l.t.Errorf("%s is left in Azure after the cluster was deleted", id)
		}
	}
}

// startCloudController runs the book's commands for the cluster until the test ends.
func (l *lab) startCloudController(cluster string) {
	l.t.Helper()
	var script string
	for _, b := range l.codeBlocks() {
		if b.Language == "sh" && b.Page == "docs/book/"+cloudProviderPage && strings.Contains(b.Text, "cloud-controller-manager --") {
			script += b.Text
		}
	}
	if script == "" {
		l.t.Fatalf("%s has no commands that start cloud-controller-manager", cloudProviderPage)
	}
	script = strings.NewReplacer("demo", cluster, "bin/lab env", l.binaryPath("lab")+" env --dir "+l.dir, "lab kubeconfig",
		"lab kubeconfig --dir "+l.dir).Replace(script)
	command := exec.Command("bash", "-e", "-o", "pipefail", "-c", script)
	command.Dir = l.t.TempDir()
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var messages bytes.Buffer
	command.Stdout, command.Stderr = &messages, &messages
	if err := command.Start(); err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() {
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
		_ = command.Wait() // killed
		if l.t.Failed() {
			lines := strings.Split(messages.String(), "\n")
			l.t.Logf("end of cloud-controller-manager's log:\n%s", strings.Join(lines[max(0, len(lines)-40):], "\n"))
		}
	})
	kubeconfig := l.workloadKubeconfig(cluster)
	l.eventually("cloud-controller-manager holds its Lease", func() (bool, string) {
		out, err := l.tryProgram("kubectl", "--kubeconfig", kubeconfig, "get", "lease", "cloud-controller-manager", "-n", "kube-system", "-o",
			"jsonpath={.spec.holderIdentity}")
		return err == nil && out != "", fmt.Sprint(out, err)
	})
}

// servicesOfBook returns the manifests of the Services.
func (l *lab) servicesOfBook() string {
	l.t.Helper()
	for _, b := range l.codeBlocks() {
		if b.Language == "yaml" && b.Page == "docs/book/"+cloudProviderPage && strings.Contains(b.Text, "kind: Service") {
			return b.Text
		}
	}
	l.t.Fatalf("%s has no Services", cloudProviderPage)
	return ""
}

// awaitBackends waits until each load balancer of Services leads to this many workers, and to no machine that is gone.
func (l *lab) awaitBackends(cluster string, workers int) {
	l.t.Helper()
	azure, err := simulator.New(l.loadSettings())
	if err != nil {
		l.t.Fatal(err)
	}
	l.eventually(fmt.Sprintf("load balancers of Services lead to %d workers", workers), func() (bool, string) {
		guests, err := azure.ListGuests(l.t.Context())
		if err != nil {
			return false, err.Error()
		}
		backends := map[string]int{}
		for _, g := range guests {
			for _, nic := range g.NICs {
				for _, pool := range nic.LoadBalancerBackendPools {
					id := strings.ToLower(pool.ID)
					// cloud-provider-azure names its pools for its flag --cluster-name.
					if strings.EqualFold(g.ResourceGroup, cluster) && strings.HasSuffix(id, "/backendaddresspools/"+cluster) {
						backends[strings.Split(id, "/")[8]]++
					}
				}
			}
		}
		want := map[string]int{cluster: workers, cluster + "-internal": workers}
		return maps.Equal(backends, want), fmt.Sprintf("%v, want %v", backends, want)
	})
}

// expectNoWrites waits until all writes that a change has caused are done, and then fails for any further one to the cluster's resources.
func (l *lab) expectNoWrites(cluster string) {
	l.t.Helper()
	ofCluster := func(r request) bool { return strings.Contains(r.resourceID()+"/", "/resourcegroups/"+cluster+"/") }
	before := l.awaitEndOfWrites(ofCluster)
	l.checkThroughout(quietWithServices, func() error {
		for _, r := range l.listRequests()[before:] {
			if r.isWrite() && ofCluster(r) {
				return fmt.Errorf("%s %s (%d) by %s although nothing has changed", r.Method, r.URL, r.Status, r.UserAgent)
			}
		}
		return nil
	})
	l.t.Logf("no write in %s", quietWithServices)
}

// scaleInAsAutoscaler sends the two requests of cluster-autoscaler, and checks that the machine that it chose is the only one that goes.
func (l *lab) scaleInAsAutoscaler(cluster, kubeconfig, scaled string) {
	l.t.Helper()
	workers := func() []string {
		names := strings.Fields(l.runProgram("kubectl", "get", "machines", "-l",
			"cluster.x-k8s.io/cluster-name="+cluster+",!cluster.x-k8s.io/control-plane", "-o", "jsonpath={.items[*].metadata.name}"))
		slices.Sort(names)
		return names
	}
	before := workers()
	if len(before) != 3 {
		l.t.Fatalf("workers %q, want 3", before)
	}
	from := len(l.listRequests())
	l.runProgram("kubectl", "annotate", "machine", before[1], "cluster.x-k8s.io/delete-machine=true")
	l.runProgram("kubectl", "scale", scaled, "--replicas", strconv.Itoa(len(before)-1))
	l.awaitNodes(cluster, kubeconfig, len(before))
	if after := workers(); !slices.Equal(after, []string{before[0], before[2]}) {
		l.t.Errorf("workers %q after %s was chosen, before %q", after, before[1], before)
	}
	for _, r := range l.listRequests()[from:] {
		if r.Method == "PUT" && strings.Contains(r.resourceID(), "/resourcegroups/"+cluster+"/providers/microsoft.compute/virtualmachines/") {
			l.t.Errorf("PUT %s by %s although the cluster gets smaller", r.URL, r.UserAgent)
		}
	}
}

// publicAddresses returns the names of the addresses that cloud-provider-azure has made.
func (l *lab) publicAddresses(cluster string) []string {
	l.t.Helper()
	return slices.DeleteFunc(namesOf(l.listResources(), "microsoft.network/publicipaddresses"), func(name string) bool {
		return !strings.HasPrefix(name, cluster+"-a")
	})
}
