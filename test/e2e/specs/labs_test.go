//go:build e2e

package specs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"sigs.k8s.io/cluster-api/test/framework"
)

// secondLab is another management cluster that uses the simulated Azure of the lab of the specs.
type secondLab struct{ dir string }

// startSecondLab starts a lab beside that of the specs. It stops at the end of the spec.
func startSecondLab(name string, flags ...string) secondLab {
	// One folder and one block of ports for each parallel process, below that of the lab: two specs may start labs of the same name.
	process := GinkgoParallelProcess()
	l := secondLab{dir: filepath.Join(*artifacts, "labs", name+"-"+strconv.Itoa(process))}
	port := strconv.Itoa(*basePort - 1000*process)
	// A lab that did not start completely has processes, too.
	DeferCleanup(func() { l.run("down", "--dir", l.dir) })
	l.run(append([]string{"up", "--bare", "--dir", l.dir, "--base-port", port, "--beside", os.Getenv("XDG_CONFIG_HOME"), "--time-scale", "0.05"}, flags...)...)
	return l
}

func (l secondLab) run(args ...string) {
	By("lab " + args[0])
	out, err := exec.CommandContext(ctx, filepath.Join(*root, "bin", "lab"), args...).CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(out))
}

func (l secondLab) kubeconfig() string { return filepath.Join(l.dir, "kubeconfig") }

// clusterctlConfig names the releases with webhooks that lead to the managers of this lab.
func (l secondLab) clusterctlConfig() string {
	return filepath.Join(l.dir, "cluster-api", "clusterctl.yaml")
}

func (l secondLab) proxy(name string) framework.ClusterProxy {
	return framework.NewClusterProxy(name, l.kubeconfig(), newScheme())
}
