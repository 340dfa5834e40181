package bridge

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
)

// flatcarUnits are the additions of the flavor flatcar to the units.
const flatcarUnits = `systemd:
  units:
  - name: kubeadm.service
    enabled: true
    dropins:
    - name: 10-flatcar.conf
      contents: |
        [Unit]
        Requires=containerd.service
        After=containerd.service
        [Service]
        ExecStartPre=/usr/bin/systemctl enable --now kubelet.service
`

// hostname is the command with which the flavor flatcar replaces templates.
const hostname = `sed -i "s/@@HOSTNAME@@/$(curl -sf --noproxy '*' -H Metadata:true 'http://169.254.169.254/metadata/instance/compute/name?api-version=2021-02-01&format=text')/g" /etc/kubeadm.yml`

// ignitionBootData is bootstrap data as the flavor flatcar asks for it, made by Cluster API.
func ignitionBootData(t *testing.T) *bootData {
	d := sharedBootData(t)
	d.ignition = &bootstrapv1.IgnitionSpec{ContainerLinuxConfig: bootstrapv1.ContainerLinuxConfig{AdditionalConfig: flatcarUnits}}
	d.init.NodeRegistration.Name, d.join.NodeRegistration.Name = "@@HOSTNAME@@", "@@HOSTNAME@@"
	d.before = []string{"echo preparing", hostname}
	return d
}

// TestIgnition breaks one thing per row in an Ignition config that is otherwise right.
func TestIgnition(t *testing.T) {
	// edit changes the config as JSON.
	edit := func(change func(config map[string]any)) func(string) string {
		return func(data string) string {
			raw, err := base64.StdEncoding.DecodeString(data)
			if err != nil {
				t.Fatal(err)
			}
			var config map[string]any
			if err := json.Unmarshal(raw, &config); err != nil {
				t.Fatal(err)
			}
			change(config)
			if raw, err = json.Marshal(config); err != nil {
				t.Fatal(err)
			}
			return base64.StdEncoding.EncodeToString(raw)
		}
	}
	file := func(config map[string]any, path string) map[string]any {
		for _, f := range config["storage"].(map[string]any)["files"].([]any) {
			if f := f.(map[string]any); f["path"] == path {
				return f
			}
		}
		t.Fatalf("no file %s", path)
		return nil
	}
	editFile := func(path string, change func(map[string]any)) func(string) string {
		return edit(func(config map[string]any) { change(file(config, path)) })
	}
	units := func(d *bootData, text string) { d.ignition.ContainerLinuxConfig.AdditionalConfig = text }
	workers, controlPlanes, first := (*bootData).workerData, (*bootData).controlPlaneJoinData, (*bootData).initData
	for name, tc := range map[string]struct {
		reason string
		kind   func(*bootData, *testing.T) string
		data   func(*bootData)
		edit   func(string) string
		want   string // "" when nothing is wrong
	}{
		"worker": {
			reason: "Cluster API's own output for a worker must be accepted", kind: workers,
		},
		"control plane join": {
			reason: "Cluster API's own output for another control plane must be accepted", kind: controlPlanes,
		},
		"init": {
			reason: "Cluster API's own output for the first control plane must be accepted", kind: first,
		},
		"version 3": {
			reason: "newer Flatcar reads it too; it has no filesystem names", kind: workers,
			edit: edit(func(config map[string]any) {
				config["ignition"].(map[string]any)["version"] = "3.4.0"
				for _, f := range config["storage"].(map[string]any)["files"].([]any) {
					delete(f.(map[string]any), "filesystem")
				}
			}),
		},
		"gzip": {
			reason: "long files are compressed", kind: workers,
			edit: editFile("/etc/kubeadm.sh", func(f map[string]any) {
				contents := f["contents"].(map[string]any)
				plain, _, err := ignitionContents{Source: contents["source"].(string)}.decodeContent()
				if err != nil {
					t.Fatal(err)
				}
				var packed bytes.Buffer
				w := gzip.NewWriter(&packed)
				if _, err := w.Write(plain); err != nil {
					t.Fatal(err)
				}
				w.Close()
				contents["source"] = "data:;base64," + base64.StdEncoding.EncodeToString(packed.Bytes())
				contents["compression"] = "gzip"
			}),
		},
		"system extension": {
			reason: "files from elsewhere that kubeadm does not read need not be known", kind: workers,
			data: func(d *bootData) {
				units(d,
					flatcarUnits+"storage:\n  files:\n  - path: /opt/extensions/kubernetes.raw\n    filesystem: root\n    mode: 0644\n    contents:\n  "+
						"    remote:\n        url: https://extensions.flatcar.org/kubernetes.raw\n")
			},
		},
		"jq": {
			reason: "the other way to ask the metadata service", kind: workers,
			data: func(d *bootData) {
				d.before = []string{`sed -i "s/@@HOSTNAME@@/$(curl -s -H 'Metadata: true' --noproxy '*' 'http://169.254.169.254/metadata/instance?api-version=2020-09-01' | jq -r .compute.name)/g" /etc/kubeadm.yml`}
			},
		},
		"hostname": {
			reason: "Flatcar takes the VM's name as its own", kind: workers,
			data: func(d *bootData) { d.before = []string{`sudo sed -i s/@@HOSTNAME@@/${HOSTNAME}/ /etc/kubeadm.yml`} },
		},
		"broken JSON": {
			reason: "Ignition does not start the machine", kind: workers,
			edit: func(string) string {
				return base64.StdEncoding.EncodeToString([]byte(`{"ignition":{"version":"2.3.0"}`))
			},
			want: "ignition config is not JSON that Ignition can read: unexpected end of JSON input",
		},
		"wrong type": {
			reason: "modes are numbers", kind: workers,
			edit: editFile("/etc/kubeadm.sh", func(f map[string]any) { f["mode"] = "0700" }),
			want: `ignition config is not JSON that Ignition can read: storage.files[1].mode: Invalid value: "string": must be of type integer`,
		},
		"version": {
			reason: "Ignition refuses a version it does not know", kind: workers,
			edit: edit(func(config map[string]any) { config["ignition"].(map[string]any)["version"] = "1.0" }),
			want: `ignition config: ignition.version "1.0" is none that Flatcar reads: use 2.x.y or 3.x.y`,
		},
		"other configs": {
			reason: "the lab must not pretend to have merged a config that it cannot fetch", kind: workers,
			edit: edit(func(config map[string]any) {
				config["ignition"].(map[string]any)["config"] = map[string]any{"append": []any{map[string]any{"source": "https://example.com/SECRET"}}}
			}),
			want: "ignition config: ignition.config refers to other configs: the lab reads one config only",
		},
		"no filesystem": {
			reason: "version 2 wants to know where", kind: workers,
			edit: editFile("/etc/kubeadm.sh", func(f map[string]any) { f["filesystem"] = "" }),
			want: "ignition storage.files[1] (/etc/kubeadm.sh): filesystem is missing: use root",
		},
		"octal mode": {
			reason: "JSON has no octal numbers", kind: workers,
			edit: editFile("/etc/kubeadm.sh", func(f map[string]any) { f["mode"] = 100644 }),
			want: "ignition storage.files[1] (/etc/kubeadm.sh): mode 100644 is no file mode: JSON has it as a decimal number, 420 is 0644",
		},
		"relative path": {
			reason: "Ignition writes absolute paths only", kind: workers,
			edit: editFile("/etc/kubeadm.sh", func(f map[string]any) { f["path"] = "etc/kubeadm.sh" }),
			want: "ignition storage.files[1] (etc/kubeadm.sh): path is not absolute",
		},
		"content is not base64": {
			reason: "the URL marks the content as compressed", kind: workers,
			edit: editFile("/etc/kubeadm.sh", func(f map[string]any) { f["contents"] = map[string]any{"source": "data:;base64,%25%25"} }),
			want: "ignition storage.files[1] (/etc/kubeadm.sh): contents.source: content is not base64: illegal base64 data at input byte 0",
		},
		"compression": {
			reason: "only gzip is known to Ignition", kind: workers,
			edit: editFile("/etc/kubeadm.sh", func(f map[string]any) { f["contents"] = map[string]any{"source": "data:,x", "compression": "xz"} }),
			want: `ignition storage.files[1] (/etc/kubeadm.sh): contents.compression "xz" is unknown: use gzip`,
		},
		"content is not gzip": {
			reason: "Ignition cannot unpack it", kind: workers,
			edit: editFile("/etc/kubeadm.sh", func(f map[string]any) { f["contents"].(map[string]any)["compression"] = "gzip" }),
			want: "ignition storage.files[1] (/etc/kubeadm.sh): content is not gzip: gzip: invalid header",
		},
		"kubeadm's configuration from elsewhere": {
			reason: "the lab cannot check a config that it does not have, and must not show its credential", kind: workers,
			edit: editFile("/etc/kubeadm.yml", func(f map[string]any) {
				f["contents"] = map[string]any{"source": "https://me:SECRET@example.blob.core.windows.net/SECRET?sig=SECRET"}
			}),
			want: "/etc/kubeadm.yml: its content comes from https://example.blob.core.windows.net, and the lab fetches nothing",
		},
		"script from elsewhere": {
			reason: "it may run kubeadm, but the lab cannot know", kind: workers,
			edit: editFile("/etc/kubeadm.sh", func(f map[string]any) { f["contents"] = map[string]any{"source": "https://example.com/SECRET"} }),
			want: "ignition systemd.units (enabled services with contents: kubeadm.service; /etc/kubeadm.sh: its content comes from " +
				"https://example.com, and the lab fetches nothing) " +
				"has neither kubeadm init nor kubeadm join: the machine never becomes a Node",
		},
		"twice in version 3": {
			reason: "Ignition 3 refuses it, version 2 takes the later one", kind: workers,
			edit: edit(func(config map[string]any) {
				config["ignition"].(map[string]any)["version"] = "3.4.0"
				storage := config["storage"].(map[string]any)
				storage["files"] = append(storage["files"].([]any), map[string]any{"path": "/etc/kubeadm.sh"})
			}),
			want: "ignition storage.files[3] (/etc/kubeadm.sh): version 3 takes a path only once",
		},
		"kubeadm's configuration missing": {
			reason: "kubeadm would find no file", kind: workers,
			edit: editFile("/etc/kubeadm.yml", func(f map[string]any) { f["path"] = "/etc/kubeadm.yaml" }),
			want: "/etc/kubeadm.yml: kubeadm join reads it but storage.files does not write it (files: /etc/kubeadm.sh, /etc/kubeadm.yaml, " +
				"/etc/kubernetes/azure.json)",
		},
		"azure.json missing": {
			reason: "cloud-provider-azure has no configuration", kind: workers,
			edit: editFile("/etc/kubernetes/azure.json", func(f map[string]any) { f["path"] = "/etc/kubernetes/azure.yaml" }),
			want: "/etc/kubernetes/azure.json: storage.files does not write it: cloud-provider-azure has no configuration on this machine",
		},
		"certificate missing": {
			reason: "kubeadm would make its own CA", kind: first,
			edit: editFile("/etc/kubernetes/pki/ca.crt", func(f map[string]any) { f["path"] = "/etc/kubernetes/pki/ca.pem" }),
			want: "/etc/kubernetes/pki/ca.crt: storage.files does not write it and kubeadm on a control plane needs it",
		},
		"masked": {
			reason: "systemd would not start the unit", kind: workers,
			data: func(d *bootData) { units(d, "systemd:\n  units:\n  - name: kubeadm.service\n    mask: true\n") },
			want: "ignition systemd.units (enabled services with contents: none) has neither kubeadm init nor kubeadm join: the machine never " +
				"becomes a Node",
		},
		"disabled": {
			reason: "the user's settings of the unit override Cluster API's", kind: workers,
			data: func(d *bootData) { units(d, "systemd:\n  units:\n  - name: kubeadm.service\n    enabled: false\n") },
			want: "ignition systemd.units (enabled services with contents: none) has neither kubeadm init nor kubeadm join: the machine never " +
				"becomes a Node",
		},
		"other script": {
			reason: "a drop-in clears the commands of the unit", kind: workers,
			data: func(d *bootData) {
				units(d,
					"systemd:\n  units:\n  - name: kubeadm.service\n    enabled: true\n    dropins:\n    - name: 20-mine.conf\n      contents: |\n     "+
						"   [Service]\n        ExecStart=\n        ExecStart=/usr/bin/true\n")
			},
			want: "ignition systemd.units (enabled services with contents: kubeadm.service) has neither kubeadm init nor kubeadm join: the " +
				"machine never becomes a Node",
		},
		"placeholder stays": {
			reason: "nothing replaces it", kind: workers,
			data: func(d *bootData) { d.before = nil },
			want: `/etc/kubeadm.yml: nodeRegistration.name "@@hostname@@" is not the VM's computer name "vm-1": cloud-provider-azure would not find the VM of this Node`,
		},
		"replaced too late": {
			reason: "kubeadm has read the file already", kind: workers,
			data: func(d *bootData) { d.before = []string{"kubeadm join --config /etc/kubeadm.yml", hostname} },
			want: `/etc/kubeadm.yml: nodeRegistration.name "@@hostname@@" is not the VM's computer name "vm-1": cloud-provider-azure would not find the VM of this Node`,
		},
		"no metadata header": {
			reason: "the metadata service answers 400, and the name would be empty", kind: workers,
			data: func(d *bootData) { d.before = []string{strings.Replace(hostname, "-H Metadata:true ", "", 1)} },
			want: "/etc/kubeadm.yml: a command changes it with sed: the metadata service refuses a request without the header Metadata:true",
		},
		"no format": {
			reason: "single values are not JSON", kind: workers,
			data: func(d *bootData) { d.before = []string{strings.Replace(hostname, "&format=text", "", 1)} },
			want: "/etc/kubeadm.yml: a command changes it with sed: the metadata service gives single values only with format=text",
		},
		"unknown field": {
			reason: "the name of a field is wrong", kind: workers,
			data: func(d *bootData) {
				d.before = []string{strings.Replace(hostname, "compute/name", "compute/hostname", 1)}
			},
			want: "/etc/kubeadm.yml: a command changes it with sed: the lab's metadata service has no compute.hostname",
		},
		"unknown command": {
			reason: "the lab runs no command, so it reports that the content is unknown", kind: workers,
			data: func(d *bootData) {
				d.before = []string{`sed -i "s/@@HOSTNAME@@/$(my-name --token SECRET)/" /etc/kubeadm.yml`}
			},
			want: "/etc/kubeadm.yml: a command changes it with sed: the lab does not know what my-name prints: it knows hostname, and curl of " +
				"http://169.254.169.254/metadata/instance",
		},
		"regular expression": {
			reason: "the lab is no sed", kind: workers,
			data: func(d *bootData) { d.before = []string{`sed -i 's/@@.*@@/vm-1/' /etc/kubeadm.yml`} },
			want: "/etc/kubeadm.yml: a command changes it with sed: the lab knows s/OLD/NEW/ and s/OLD/NEW/g with plain text",
		},
		"several expressions": {
			reason: "the lab knows one", kind: workers,
			data: func(d *bootData) { d.before = []string{`sed -i -e s/a/b/ -e s/c/d/ /etc/kubeadm.yml`} },
			want: "/etc/kubeadm.yml: a command changes it with sed: the lab knows s/OLD/NEW/ and s/OLD/NEW/g with plain text",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := ignitionBootData(t)
			if tc.data != nil {
				tc.data(d)
			}
			data := tc.kind(d, t)
			if tc.edit != nil {
				data = tc.edit(data)
			}
			g := testGuest("vm-1", data)
			_, err := prepareEnrolment(g, testInventory(t, g))
			got := ""
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
			if strings.Contains(got, "SECRET") {
				t.Errorf("the error shows a secret: %s", got)
			}
		})
	}
}

// TestIgnitionFiles reads the content of files with their appended parts.
func TestIgnitionFiles(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, config string
		want           map[string]string
	}{
		"written twice": {
			reason: "the later one stays",
			config: `{"ignition":{"version":"2.3.0"},"storage":{"files":[
				{"filesystem":"root","path":"/a","contents":{"source":"data:,one%20"}},
				{"filesystem":"root","path":"/a","contents":{"source":"data:;base64,dHdv"}},
				{"filesystem":"root","path":"/b"}]}}`,
			want: map[string]string{"/a": "two", "/b": ""},
		},
		"version 2 adds": {
			reason: "append is a switch there",
			config: `{"ignition":{"version":"2.2.0"},"storage":{"files":[
				{"filesystem":"root","path":"/a","contents":{"source":"data:text/plain,one%20"}},
				{"filesystem":"root","path":"/a","append":true,"contents":{"source":"data:,two"}}]}}`,
			want: map[string]string{"/a": "one two"},
		},
		"version 3 adds": {
			reason: "append is a list there",
			config: `{"ignition":{"version":"3.3.0"},"storage":{"files":[
				{"path":"/a","contents":{"source":"data:,one"},"append":[{"source":"data:,%20two"},{"source":"data:,%20three"}]}]}}`,
			want: map[string]string{"/a": "one two three"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			script, err := readCustomData(testGuest("vm-1", base64.StdEncoding.EncodeToString([]byte(tc.config))))
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for path, f := range script.Files {
				got[path] = string(f.Content)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}
