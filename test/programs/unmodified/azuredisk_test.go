//go:build programs

package unmodified

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/programs/neighbor"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// driver is the controller of the azuredisk CSI driver, as a process. The test plays the sidecars that call it in a cluster.
type driver struct {
	csi.ControllerClient
}

// startDriver starts the controller and waits until it answers.
func startDriver(t *testing.T, outside *virtual.Outside) *driver {
	t.Helper()
	dir, err := os.MkdirTemp("", "csi") // Paths of sockets are short.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	settings, err := json.Marshal(map[string]any{"cloud": "AzurePublicCloud", "tenantId": server.DefaultTenant,
		"subscriptionId": server.DefaultSubscription, "aadClientId": server.DefaultClientID, "aadClientSecret": server.DefaultSecret,
		"resourceGroup": neighbor.Group, "location": "eastus", "vmType": "vmss", "useInstanceMetadata": false})
	if err != nil {
		t.Fatal(err)
	}
	file, socket := filepath.Join(dir, "azure.json"), filepath.Join(dir, "csi.sock")
	if err := os.WriteFile(file, settings, 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(findProgram(t, "azurediskplugin"), "--endpoint=unix://"+socket, "--v=2", "--enable-migration-monitor=false")
	command.Env = environment(outside, "AZURE_CREDENTIAL_FILE="+file)
	var log bytes.Buffer
	command.Stdout, command.Stderr = &log, &log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait() // killed
		if t.Failed() {
			lines := strings.Split(log.String(), "\n")
			t.Logf("end of the driver's log:\n%s", strings.Join(lines[max(0, len(lines)-60):], "\n"))
		}
	})
	connection, err := grpc.NewClient("passthrough:///"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, path string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	return &driver{csi.NewControllerClient(connection)}
}

// patience is how long a call of the driver may take in real time.
const patience = 2 * time.Minute

// capability is that of a volume with a file system that one node writes.
func capability() *csi.VolumeCapability {
	return &csi.VolumeCapability{AccessType: &csi.VolumeCapability_Mount{Mount: &csi.VolumeCapability_MountVolume{FsType: "ext4"}},
		AccessMode: &csi.VolumeCapability_AccessMode{Mode: csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER}}
}

// createVolume creates a volume as csi-provisioner does, and returns its ID.
func (d *driver) createVolume(name string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	created, err := d.CreateVolume(ctx, &csi.CreateVolumeRequest{Name: name, CapacityRange: &csi.CapacityRange{RequiredBytes: 8 << 30},
		VolumeCapabilities: []*csi.VolumeCapability{capability()}, Parameters: map[string]string{"skuName": "Premium_LRS",
			"csi.storage.k8s.io/pvc/name": "data", "csi.storage.k8s.io/pvc/namespace": "default", "csi.storage.k8s.io/pv/name": name}},
		grpc.WaitForReady(true))
	if err != nil {
		return "", fmt.Errorf("CreateVolume: %w", err)
	}
	return created.Volume.VolumeId, nil
}

// attach attaches a volume to a node as csi-attacher does.
func (d *driver) attach(volume, node string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	published, err := d.ControllerPublishVolume(ctx, &csi.ControllerPublishVolumeRequest{VolumeId: volume, NodeId: node,
		VolumeCapability: capability()})
	if err != nil {
		return fmt.Errorf("ControllerPublishVolume to %s: %w", node, err)
	}
	if published.PublishContext["LUN"] == "" {
		return fmt.Errorf("ControllerPublishVolume: %w: no LUN in %v", errUnexpected, published.PublishContext)
	}
	return nil
}

// remove detaches and deletes a volume.
func (d *driver) remove(volume, node string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := d.ControllerUnpublishVolume(ctx, &csi.ControllerUnpublishVolumeRequest{VolumeId: volume, NodeId: node}); err != nil {
		return fmt.Errorf("ControllerUnpublishVolume: %w", err)
	}
	if _, err := d.ControllerExpandVolume(ctx, &csi.ControllerExpandVolumeRequest{VolumeId: volume, VolumeCapability: capability(),
		CapacityRange: &csi.CapacityRange{RequiredBytes: 16 << 30}}); err != nil {
		return fmt.Errorf("ControllerExpandVolume: %w", err)
	}
	snapshot, err := d.CreateSnapshot(ctx, &csi.CreateSnapshotRequest{SourceVolumeId: volume, Name: "snapshot"})
	if err != nil {
		return fmt.Errorf("CreateSnapshot: %w", err)
	}
	if _, err := d.DeleteSnapshot(ctx, &csi.DeleteSnapshotRequest{SnapshotId: snapshot.Snapshot.SnapshotId}); err != nil {
		return fmt.Errorf("DeleteSnapshot: %w", err)
	}
	if _, err := d.DeleteVolume(ctx, &csi.DeleteVolumeRequest{VolumeId: volume}); err != nil {
		return fmt.Errorf("DeleteVolume: %w", err)
	}
	return nil
}

// TestAzuredisk lets the controller of the CSI driver create volumes and attach them to a machine and to a VM of a pool. It expects that
// the provider writes nothing because of it, and that the volume that is still attached goes with the cluster's group.
func TestAzuredisk(t *testing.T) {
	outside := virtual.ListenOutside(t)
	d := startDriver(t, outside)
	neighbor.Play(t, func(c *neighbor.Cluster) {
		node := c.ReadPoolNode()
		mark := c.Azure.MarkRequests()
		var removed, kept string
		writes := act(c, outside, func() (err error) {
			if removed, err = d.createVolume("pvc-1"); err != nil {
				return err
			}
			if kept, err = d.createVolume("pvc-2"); err != nil {
				return err
			}
			if err := d.attach(removed, neighbor.Machine); err != nil {
				return err
			}
			return d.attach(kept, node)
		})
		want := []string{"PUT resourceGroups/c1/Microsoft.Compute/disks/pvc-1", "PUT resourceGroups/c1/Microsoft.Compute/disks/pvc-2",
			"PUT resourceGroups/c1/Microsoft.Compute/virtualMachines/c1-md",
			"PUT resourceGroups/c1/Microsoft.Compute/virtualMachineScaleSets/c1-mp/virtualMachines/0"}
		if diff := cmp.Diff(want, writes); diff != "" {
			c.T.Errorf("writes of the driver (-want +got):\n%s", diff)
		}
		for disk, vm := range map[string]string{"pvc-1": "virtualMachines/" + neighbor.Machine,
			"pvc-2": "virtualMachineScaleSets/" + neighbor.Pool + "/virtualMachines/0"} {
			owner, _ := c.FindProperty("Microsoft.Compute/disks/"+disk, "managedBy").(string)
			if !strings.HasSuffix(strings.ToLower(owner), strings.ToLower("/Microsoft.Compute/"+vm)) {
				c.T.Errorf("disk %s is attached to %q, want %s", disk, owner, vm)
			}
		}
		c.CheckNoWrites(mark)

		mark = c.Azure.MarkRequests()
		act(c, outside, func() error { return d.remove(removed, neighbor.Machine) })
		c.CheckNoWrites(mark)
		var disks []string
		for _, id := range c.ListLeft(neighbor.Group) {
			if strings.Contains(id, "/pvc-") || strings.Contains(id, "/snapshots/") {
				disks = append(disks, id)
			}
		}
		if diff := cmp.Diff([]string{"resourceGroups/c1/Microsoft.Compute/disks/pvc-2"}, disks); diff != "" {
			c.T.Errorf("disks and snapshots (-want +got):\n%s", diff)
		}

		c.Delete()
		if left := c.ListLeft(neighbor.Group); len(left) > 0 {
			c.T.Errorf("left in the cluster's group: %q", left)
		}
	})
}
