package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources"

	"sigs.k8s.io/cluster-api-provider-azure/sim/azuretest"
	"sigs.k8s.io/cluster-api-provider-azure/sim/azuretest/ports"
)

// Identifiers of the lab's subscription, and the group that exists before.
const (
	labSubscription = "20000000-0000-4000-8000-000000000001"
	labGroup        = "cluster-api"
)

// runName finds the name of the run in the output of a run.
var runName = regexp.MustCompile(`run (capz-e2e-\d+): its resource groups`)

// TestAbortedRun lets a lab simulate a subscription and a management cluster that know nothing of the lab's own commands. A run begins to
// create a cluster there and is killed, together with the manager. The test expects that all of its resources have the tag, and that the
// sweep deletes them and nothing else.
func TestAbortedRun(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	s := &story{t: t, root: root, dir: filepath.Join(t.TempDir(), "lab"), port: ports.Block(t, 1000)}
	// The processes would download missing files through the lab's proxy, which leads nowhere.
	if err := (options{root: root}).buildPrograms(t.Context()); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "e2e")
	s.run(".", nil, "go", "build", "-o", program, ".")
	t.Cleanup(func() { s.run(root, nil, filepath.Join(root, "bin", "lab"), "down", "--dir", s.dir) })
	s.run(root, nil, filepath.Join(root, "bin", "lab"), "up", "--bare", "--dir", s.dir, "--base-port", strconv.Itoa(s.port), "--time-scale", "0.05")

	run := exec.Command(filepath.Join(root, "bin", "lab"), "exec", "--dir", s.dir, "--", program, "run", "--root", root, "--cloud", "azure",
		"--subscription", labSubscription, "--kubeconfig", filepath.Join(s.dir, "kubeconfig"), "--spec", "quick-start", "--flavor", "default", "--nodes", "1")
	run.Dir, run.SysProcAttr = filepath.Join(root, "test", "e2e"), &syscall.SysProcAttr{Setpgid: true}
	var out bytes.Buffer
	run.Stdout, run.Stderr = &out, &out
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = run.Wait(); close(ended) }()
	s.awaitMachine(ended, &out)
	if err := syscall.Kill(-run.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-ended
	if text := out.String(); !strings.Contains(text, "USD") || strings.Index(text, "USD") > strings.Index(text, "run capz-e2e-") {
		t.Errorf("the cost is not printed before the run begins:\n%s", text)
	}
	s.exec("kubectl", "scale", "deployment", "capz-controller-manager", "--namespace", "capz-system", "--replicas", "0")
	s.exec("kubectl", "rollout", "status", "deployment/capz-controller-manager", "--namespace", "capz-system", "--timeout", "5m")

	groups, untagged := s.listGroups(), s.listUntagged()
	if len(groups) != 2 || !slices.ContainsFunc(groups, func(name string) bool { return strings.HasPrefix(name, "capz-e2e-") }) {
		t.Fatalf("groups after the run: %v, want %s and one of the run\n%s", groups, labGroup, out.String())
	}
	if len(untagged) > 0 {
		t.Errorf("these resources have no tag of the run: %q", untagged)
	}
	name := runName.FindStringSubmatch(out.String())
	if name == nil {
		t.Fatalf("the output does not name the run:\n%s", out.String())
	}
	t.Log(s.exec(program, "sweep", "--subscription", labSubscription, "--run", name[1]))
	if left := s.listGroups(); !slices.Equal(left, []string{labGroup}) {
		t.Errorf("groups after the sweep: %v, want that of the subscription's owner alone", left)
	}
}

// story runs programs in a lab.
type story struct {
	t         *testing.T
	root, dir string
	port      int
}

func (s *story) run(dir string, environment []string, program string, args ...string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, program, args...)
	command.Dir = dir
	if environment != nil {
		command.Env = environment
	}
	var messages bytes.Buffer
	command.Stderr = &messages
	out, err := command.Output()
	if err != nil {
		s.t.Fatalf("%s %s: %v\n%s%s", program, strings.Join(args, " "), err, out, messages.String())
	}
	return string(out)
}

// exec runs a program with the environment of the lab.
func (s *story) exec(args ...string) string {
	s.t.Helper()
	return s.run(s.root, nil, filepath.Join(s.root, "bin", "lab"), append([]string{"exec", "--dir", s.dir, "--"}, args...)...)
}

// signIn returns what a client of the SDK needs.
func (s *story) signIn() (azcore.TokenCredential, *arm.ClientOptions) {
	s.t.Helper()
	read := func(elements ...string) []byte {
		raw, err := os.ReadFile(filepath.Join(append([]string{s.dir}, elements...)...))
		if err != nil {
			s.t.Fatal(err)
		}
		return raw
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(read("azure", "ca.crt"))
	endpoint := fmt.Sprintf("https://127.0.0.1:%d", s.port+4)
	options := azcore.ClientOptions{
		Transport: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}},
		Cloud: cloud.Configuration{ActiveDirectoryAuthorityHost: endpoint + "/", Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
			cloud.ResourceManager: {Endpoint: endpoint, Audience: azuretest.Audience},
		}},
	}
	credential, err := azidentity.NewClientSecretCredential("10000000-0000-4000-8000-000000000001", "30000000-0000-4000-8000-000000000001",
		string(read("pki", "client-secret")), &azidentity.ClientSecretCredentialOptions{ClientOptions: options, DisableInstanceDiscovery: true})
	if err != nil {
		s.t.Fatal(err)
	}
	return credential, &arm.ClientOptions{ClientOptions: options}
}

func (s *story) listGroups() []string {
	s.t.Helper()
	credential, options := s.signIn()
	groups, err := armresources.NewResourceGroupsClient(labSubscription, credential, options)
	if err != nil {
		s.t.Fatal(err)
	}
	var names []string
	for pager := groups.NewListPager(nil); pager.More(); {
		page, err := pager.NextPage(s.t.Context())
		if err != nil {
			s.t.Fatal(err)
		}
		for _, group := range page.Value {
			names = append(names, *group.Name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(b, a) })
	return names
}

// listUntagged returns the resources outside of the lab's group that lack the tag.
func (s *story) listUntagged() []string {
	s.t.Helper()
	credential, options := s.signIn()
	resources, err := armresources.NewClient(labSubscription, credential, options)
	if err != nil {
		s.t.Fatal(err)
	}
	var untagged []string
	count := 0
	for pager := resources.NewListPager(nil); pager.More(); {
		page, err := pager.NextPage(s.t.Context())
		if err != nil {
			s.t.Fatal(err)
		}
		for _, r := range page.Value {
			if strings.Contains(strings.ToLower(*r.ID), "/resourcegroups/"+labGroup+"/") {
				continue
			}
			count++
			if value := r.Tags["capz-e2e"]; value == nil || !strings.HasPrefix(*value, "capz-e2e-") {
				untagged = append(untagged, *r.ID)
			}
		}
	}
	if count == 0 {
		s.t.Error("the run has left no resource")
	}
	return untagged
}

// awaitMachine waits until Azure has accepted a virtual machine.
func (s *story) awaitMachine(ended <-chan struct{}, out *bytes.Buffer) {
	s.t.Helper()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(10 * time.Minute)
	for {
		raw, err := os.ReadFile(filepath.Join(s.dir, "requests.jsonl"))
		if err != nil {
			s.t.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			var r struct {
				Method, URL string
				Status      int
			}
			if json.Unmarshal([]byte(line), &r) == nil && r.Method == "PUT" && r.Status < 300 && strings.Contains(r.URL, "/virtualMachines/") {
				return
			}
		}
		select {
		case <-ended:
			s.t.Fatalf("the run ended without a virtual machine:\n%s", out.String())
		case <-deadline:
			s.t.Fatal("there is no virtual machine after ten minutes")
		case <-tick.C:
		}
	}
}
