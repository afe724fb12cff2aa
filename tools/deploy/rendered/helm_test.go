package rendered

import (
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	disruption "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

const chartFolder = "../../../packaging/fleet/helm/floodmark"

func load(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := loader.Load(chartFolder)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// render returns what «helm template» writes, by the name of the template.
func render(t *testing.T, values map[string]any) (map[string]string, error) {
	t.Helper()
	c := load(t)
	if err := chartutil.ProcessDependencies(c, values); err != nil {
		t.Fatal(err)
	}
	all, err := chartutil.ToRenderValues(c, values, chartutil.ReleaseOptions{Name: "try", Namespace: "agents", IsInstall: true}, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err // the values do not match their schema
	}
	return engine.Render(c, all)
}

// objects reads every object strictly: a field that Kubernetes does not know is
// an error.
func objects(t *testing.T, files map[string]string) map[string]any {
	t.Helper()
	found := map[string]any{}
	for name, text := range files {
		if strings.HasSuffix(name, ".txt") {
			continue
		}
		for part := range strings.SplitSeq(text, "\n---\n") {
			if strings.TrimSpace(part) == "" {
				continue
			}
			var head struct {
				Kind string `json:"kind"`
			}
			if err := yaml.Unmarshal([]byte(part), &head); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, part)
			}
			into := map[string]any{
				"ConfigMap": &core.ConfigMap{}, "Deployment": &apps.Deployment{}, "Service": &core.Service{},
				"PodDisruptionBudget": &disruption.PodDisruptionBudget{}, "NetworkPolicy": &networking.NetworkPolicy{}, "ServiceMonitor": &map[string]any{},
			}[head.Kind]
			if into == nil {
				t.Fatalf("%s has an object of an unknown kind %q", name, head.Kind)
			}
			if err := yaml.UnmarshalStrict([]byte(part), into); err != nil {
				t.Errorf("%s: %v\n%s", name, err, part)
			}
			found[head.Kind] = into
		}
	}
	return found
}

func TestChart(t *testing.T) {
	for name, values := range map[string]map[string]any{
		"as it is": {},
		"everything": {
			"policy": "version: 1\nprofile: coding\n", "service": map[string]any{"owners": []any{"anna"}},
			"tls": map[string]any{"clientCA": "clients"}, "databaseBlocks": []any{"10.0.0.0/8"}, "monitor": map[string]any{"enabled": true},
			"journal":      map[string]any{"shards": []any{map[string]any{"store": "postgres://w@a.example/f", "from": 0, "to": 4095}}},
			"nodeSelector": map[string]any{"disk": "fast"}, "podAnnotations": map[string]any{"a": "b"}, "image": map[string]any{"digest": "sha256:" + strings.Repeat("0", 64)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			files, err := render(t, values)
			if err != nil {
				t.Fatal(err)
			}
			found := objects(t, files)
			d, ok := found["Deployment"].(*apps.Deployment)
			if !ok {
				t.Fatal("there is no deployment")
			}
			hardened(t, d)
			if c, ok := found["ConfigMap"].(*core.ConfigMap); !ok || !yamlish(c.Data["service.yaml"]) {
				t.Errorf("service.yaml cannot be read: %v", found["ConfigMap"])
			}
		})
	}
}

// hardened checks that a pod has no rights that it does not need.
func hardened(t *testing.T, d *apps.Deployment) {
	t.Helper()
	pod := d.Spec.Template.Spec
	if pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken {
		t.Error("the pod gets a token of the cluster")
	}
	if s := pod.SecurityContext; s == nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot {
		t.Error("the pod may run as root")
	}
	for _, c := range pod.Containers {
		s := c.SecurityContext
		if s == nil || s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation {
			t.Errorf("%s may write to its image or gain rights", c.Name)
		}
		if c.ReadinessProbe == nil || c.ReadinessProbe.HTTPGet == nil || c.ReadinessProbe.HTTPGet.Path != "/readyz" {
			t.Errorf("%s is not asked whether it is ready", c.Name)
		}
		for _, e := range c.Env {
			if strings.Contains(strings.ToLower(e.Name), "password") || strings.Contains(e.Value, "postgres://") {
				t.Errorf("%s has a secret in its environment: %s", c.Name, e.Name)
			}
		}
	}
}

func yamlish(text string) bool {
	var v map[string]any
	return yaml.UnmarshalStrict([]byte(text), &v) == nil && v["version"] != nil
}

func TestChartRefuses(t *testing.T) {
	for name, values := range map[string]map[string]any{
		"a word nobody knows":        {"replica": 2},
		"a password in the address":  {"journal": map[string]any{"store": "postgres://w:secret@db.example/f"}},
		"another journal":            {"service": map[string]any{"journal": map[string]any{"store": ""}}},
		"a digest that is none":      {"image": map[string]any{"digest": "latest"}},
		"nobody to answer":           {"replicas": 0},
		"a door that root must open": {"port": 443},
	} {
		if files, err := render(t, values); err == nil {
			t.Errorf("%s was rendered: %d files", name, len(files))
		}
	}
}
