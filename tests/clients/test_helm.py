"""The Helm chart. Helm's own engine renders it (`helm-python-sdk` has it as a library), and Kubernetes' own schemas judge what
comes out. Nothing here talks to a cluster."""

import base64
import json
import re

import kubernetes_validate
import pytest
import yaml
from gateway import ROOT, Gateway, run
from test_certificates import issue
from test_packaging import cargo_version, check

CHART = ROOT / "conf/helm/portcullis"
# The oldest that Chart.yaml permits, and the newest whose schemas there are.
KUBERNETES = ("1.30", kubernetes_validate.latest_version())

# What several gateways share.
SHARED = {
    "store": {"existingSecret": "database"},
    "blobs": {"bucket": "portcullis", "existingSecret": "bucket"},
    "masterKey": {"existingSecret": "master"},
}
# Every switch on, every list with something in it.
EVERYTHING = SHARED | {
    "image": {"repository": "registry.example.com/portcullis", "digest": "sha256:" + 64 * "0", "pullPolicy": "Always"},
    "imagePullSecrets": [{"name": "registry"}],
    "autoscaling": {"enabled": True},
    "files": {"acme.toml": '[[rule]]\nname = "ACME"\nliterals = ["Project Heron"]\n'},
    "rollOnConfigChange": True,
    "listen": {"proxyProtocol": True, "tls": {"existingSecret": "certificate"}},
    "secretEnv": [{"name": "OPENAI_AUTHORIZATION", "secret": "openai", "key": "authorization"}],
    "secretFiles": [{"secret": "authorities", "mountPath": "/run/secrets/authorities"}],
    "env": {"_RJEM_MALLOC_CONF": "junk:free"},
    "store": {"existingSecret": "database", "ca": "/run/secrets/authorities/ca.pem"},
    "blobs": {"bucket": "portcullis", "endpoint": "https://s3.example.com", "existingSecret": "bucket"},
    "service": {"type": "LoadBalancer", "port": 443, "annotations": {"example.com/a": "b"}},
    "ingress": {
        "enabled": True,
        "className": "nginx",
        "annotations": {"example.com/a": "b"},
        "tls": [{"secretName": "portcullis-tls", "hosts": ["portcullis.example.com"]}],
    },
    "networkPolicy": {
        "from": [{"namespaceSelector": {}}],
        "metricsFrom": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}],
        "egress": [{"ports": [{"port": 443}, {"port": 53, "protocol": "UDP"}]}],
    },
    "serviceAccount": {"annotations": {"example.com/role": "portcullis"}},
    "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
    "podAnnotations": {"example.com/a": "b"},
    "podLabels": {"example.com/team": "platform"},
    "nodeSelector": {"kubernetes.io/arch": "amd64"},
    "tolerations": [{"key": "dedicated", "operator": "Exists"}],
    "affinity": {"nodeAffinity": {}},
    "topologySpreadConstraints": [
        {"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway"}
    ],
    "priorityClassName": "high",
    "extraVolumes": [{"name": "names", "emptyDir": {}}],
    "extraVolumeMounts": [{"name": "names", "mountPath": "/names"}],
    "config": """
[detect]
rule_files = ["acme.toml"]

[clients]
trusted_peers = ["10.0.0.0/8"]

[upstreams.openai]
peers = ["https://api.openai.com"]
headers = { authorization = { env = "OPENAI_AUTHORIZATION" } }

[[routes]]
name = "openai"
upstream = "openai"
auth = "token"
redact = {}
""",
}
VALUES = {
    "default": {},
    "everything": EVERYTHING,
    "three": SHARED | {"replicas": 3},
    "least": {
        "persistence": {"enabled": False},
        "networkPolicy": {"enabled": False},
        "podDisruptionBudget": {"enabled": False},
        "serviceAccount": {"create": False},
        "preStopSeconds": 0,
        "listen": {"h2c": True},
    },
    "a claim": {"persistence": {"existingClaim": "mine"}, "fullnameOverride": "gate"},
    "a bucket by role": SHARED | {"blobs": {"bucket": "portcullis"}},
}
LEAST = {"ConfigMap", "Deployment", "Service", "Pod"}
USUAL = LEAST | {"ServiceAccount", "NetworkPolicy", "PodDisruptionBudget"}
KINDS = {
    "default": USUAL | {"PersistentVolumeClaim"},
    "everything": USUAL | {"HorizontalPodAutoscaler", "Ingress", "ServiceMonitor"},
    "least": LEAST,
}
every_values = pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)


@pytest.fixture(scope="module")
def helm():
    return pytest.importorskip("helm_python", reason="Helm's engine is not to be had here: the chart is not rendered")


@pytest.fixture(scope="module")
def chart(helm):
    with helm.Chart.load(CHART) as loaded:
        yield loaded


def rendered(chart, values, **options):
    """The manifests that come out."""
    chart.validate_schema(values)
    texts = chart.render(values, **({"name": "release", "namespace": "gate"} | options))
    manifests = [text for name, text in sorted(texts.items()) if name.endswith(".yaml")]
    return [one for text in manifests for one in yaml.safe_load_all(text) if one]


def notes(chart, values):
    return chart.render(values, name="release", namespace="gate")["portcullis/templates/NOTES.txt"]


def of(manifests, kind, ending=""):
    [found] = [one for one in manifests if one["kind"] == kind and one["metadata"]["name"].endswith(ending)]
    return found


def pod(manifests):
    return of(manifests, "Deployment")["spec"]["template"]["spec"]


# ── The chart ──


def test_helm_has_no_complaint(helm):
    found = helm.lint(CHART, EVERYTHING, strict=True)
    assert not found["errors"] and [one for one in found["messages"] if one["severity"] > 1] == []


@pytest.mark.parametrize("version", KUBERNETES)
@every_values
def test_manifests_are_valid(chart, values, version):
    for manifest in rendered(chart, values):
        # The operator's own, of which the API has no schema.
        if manifest["kind"] != "ServiceMonitor":
            kubernetes_validate.validate(manifest, version, strict=True)


def test_the_judge_is_strict(chart):
    for spoil in (lambda spec: spec.update(replica=1), lambda spec: spec["template"]["spec"].pop("containers")):
        deployment = of(rendered(chart, {}), "Deployment")
        spoil(deployment["spec"])
        with pytest.raises(kubernetes_validate.ValidationError):
            kubernetes_validate.validate(deployment, KUBERNETES[0], strict=True)


@pytest.mark.parametrize("name", KINDS)
def test_switches_decide_what_there_is(chart, name):
    assert {one["kind"] for one in rendered(chart, VALUES[name])} == KINDS[name]


def test_every_value_is_known_and_explained():
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    schema = json.loads((CHART / "values.schema.json").read_text())
    free = {"resources", "affinity"}

    def compare(values, schema, path=""):
        known = set(schema.get("properties", {})) - {"global"}
        assert known == set(values), path
        assert schema["additionalProperties"] is False, path
        for key, value in values.items():
            if "properties" in schema["properties"][key]:
                compare(value, schema["properties"][key], path + "." + key)
            else:
                assert not isinstance(value, dict) or value == {} or key in free, path + "." + key

    compare(values, schema)
    text = (CHART / "values.yaml").read_text()
    lines = re.sub(r"(?m)^config: \|\n(?:(?:  .*)?\n)+", "config:\n\n", text).splitlines()
    explained = {}
    for index, line in enumerate(lines):
        if key := re.match(r"(|  )\w+:", line):
            above = lines[index - 1]
            # By the line above it, or together with the one above it, or by what is said of the whole table.
            explained[index] = above.lstrip().startswith("#") or explained.get(index - 1, False)
            first_of_table = line.endswith(":") and lines[index + 1].startswith(key[1] + "  #")
            assert explained[index] or first_of_table, line


@pytest.mark.parametrize(
    "values",
    [
        {"replica": 3},
        {"image": {"repository": ""}},
        {"image": {"digest": "latest"}},
        {"masterKey": {"value": "secret"}},
        {"store": {"url": "postgres://portcullis:secret@db/portcullis"}},
        {"store": {"existingSecret": "postgres://portcullis:secret@db/portcullis"}},
        {"blobs": {"secretKey": "not a key of a Secret"}},
        {"secretEnv": [{"name": "OPENAI_AUTHORIZATION", "value": "Bearer secret"}]},
        {"files": {"portcullis.toml": ""}},
        {"terminationGracePeriodSeconds": 30},
        {"service": {"port": 0}},
    ],
    ids=str,
)
def test_wrong_values_are_refused(helm, chart, values):
    with pytest.raises(helm.HelmValuesError):
        chart.validate_schema(values)


@pytest.mark.parametrize("several", [{"replicas": 3}, {"autoscaling": {"enabled": True}}], ids=["three", "autoscaling"])
@pytest.mark.parametrize("missing", [["store"], ["blobs"], ["masterKey"], list(SHARED)], ids=" ".join)
def test_more_than_one_takes_what_they_share(helm, chart, several, missing):
    shared = {name: value for name, value in SHARED.items() if name not in missing}
    with pytest.raises(helm.HelmRenderError) as caught:
        rendered(chart, several | shared)
    said = str(caught.value)
    assert "more than one gateway (replicas, autoscaling) needs a shared store" in said
    for name, key in {"store": "existingSecret", "blobs": "bucket", "masterKey": "existingSecret"}.items():
        assert ("%s.%s" % (name, key) in said) == (name in missing), said


@pytest.mark.parametrize(
    "values, says",
    [
        ({"store": {"existingSecret": "a"}, "persistence": {"enabled": False}}, "masterKey.existingSecret"),
        ({"listen": {"h2c": True, "tls": {"existingSecret": "a"}}}, "listen.h2c"),
        ({"preStopSeconds": 15}, "terminationGracePeriodSeconds"),
    ],
)
def test_what_cannot_work_is_said(helm, chart, values, says):
    with pytest.raises(helm.HelmRenderError, match=re.escape(says)):
        rendered(chart, values)


CONFINED = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}


@every_values
def test_pods_are_confined(chart, values):
    manifests = rendered(chart, values)
    for spec in (pod(manifests), of(manifests, "Pod")["spec"]):
        assert spec["automountServiceAccountToken"] is False
        security = spec["securityContext"]
        assert security["runAsNonRoot"] is True and security["runAsUser"] == security["runAsGroup"] == 65532
        assert security["seccompProfile"] == {"type": "RuntimeDefault"}
        for name in ("hostNetwork", "hostPID", "hostIPC", "initContainers"):
            assert name not in spec
        for container in spec["containers"]:
            assert container["securityContext"] == CONFINED and container["resources"]["limits"]["memory"]
    # Kubernetes would open the master key to the group at every start, and the gateway refuse it.
    security = pod(manifests)["securityContext"]
    assert security["fsGroup"] == 65532 and security["fsGroupChangePolicy"] == "OnRootMismatch"
    mounts = pod(manifests)["containers"][0]["volumeMounts"]
    writable = {mount["mountPath"] for mount in mounts if not mount.get("readOnly")}
    assert {"/data", "/tmp"} <= writable <= {"/data", "/tmp", "/names"}


@every_values
def test_pods_are_asked_and_drain(chart, values):
    spec = pod(rendered(chart, values))
    [container] = spec["containers"]
    paths = {"startupProbe": "/healthz", "livenessProbe": "/healthz", "readinessProbe": "/readyz"}
    for probe, path in paths.items():
        assert container[probe]["httpGet"] == {"path": path, "port": "admin"}
    waits = container.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
    assert spec["terminationGracePeriodSeconds"] > 30 + waits


@every_values
def test_names_lead_somewhere(chart, values):
    manifests = rendered(chart, values)
    deployment, spec = of(manifests, "Deployment"), pod(manifests)
    [container] = spec["containers"]
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    ports = {port["name"] for port in container["ports"]}
    services = [one for one in manifests if one["kind"] == "Service"]
    selectors = [deployment["spec"]["selector"]["matchLabels"]] + [one["spec"]["selector"] for one in services]
    named = [port["targetPort"] for one in services for port in one["spec"]["ports"]]
    for one in manifests:
        if one["kind"] in ("PodDisruptionBudget", "NetworkPolicy"):
            selector = one["spec"].get("selector") or one["spec"]["podSelector"]
            selectors.append(selector["matchLabels"])
        if one["kind"] == "NetworkPolicy":
            named += [port["port"] for rule in one["spec"]["ingress"] for port in rule["ports"]]
        if one["kind"] == "HorizontalPodAutoscaler":
            assert one["spec"]["scaleTargetRef"]["name"] == deployment["metadata"]["name"]
            assert "replicas" not in deployment["spec"] and container["resources"]["requests"]["cpu"]
        if one["kind"] == "Ingress":
            backend = one["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"]
            assert (backend["name"], backend["port"]["number"]) in [
                (service["metadata"]["name"], service["spec"]["ports"][0]["port"]) for service in services
            ]
        if one["kind"] == "ServiceMonitor":
            admin = of(manifests, "Service", "-admin")
            assert one["spec"]["selector"]["matchLabels"].items() <= admin["metadata"]["labels"].items()
            ends = [end["port"] for end in one["spec"]["endpoints"]]
            assert ends == [port["name"] for port in admin["spec"]["ports"]]
    assert all(selector.items() <= labels.items() for selector in selectors), selectors
    assert set(named) <= ports, named
    # The pod of `helm test` is nobody's.
    assert not any(one.items() <= of(manifests, "Pod")["metadata"]["labels"].items() for one in selectors)
    volumes = [volume["name"] for volume in spec["volumes"]]
    assert sorted(volumes) == sorted(mount["name"] for mount in container["volumeMounts"])
    claims = [one["metadata"]["name"] for one in manifests if one["kind"] == "PersistentVolumeClaim"] + ["mine"]
    for volume in spec["volumes"]:
        assert volume.get("persistentVolumeClaim", {"claimName": claims[0]})["claimName"] in claims
    accounts = [one["metadata"]["name"] for one in manifests if one["kind"] == "ServiceAccount"] + ["default"]
    assert spec["serviceAccountName"] == accounts[0]
    for constraint in spec.get("topologySpreadConstraints", []):
        assert constraint["labelSelector"]["matchLabels"].items() <= labels.items()


def test_long_names_fit(chart):
    for manifest in rendered(chart, {}, name=53 * "r"):
        assert len(manifest["metadata"]["name"]) <= 63, manifest["metadata"]["name"]


@pytest.mark.parametrize("name, kept", [("default", True), ("three", False), ("least", False), ("a claim", True)])
def test_the_data_folder(chart, name, kept):
    """One pod at a time where it is kept; no gap between pods where it is not."""
    manifests = rendered(chart, VALUES[name])
    [volume] = [volume for volume in pod(manifests)["volumes"] if volume["name"] == "data"]
    assert ("persistentVolumeClaim" in volume) == kept
    strategy = of(manifests, "Deployment")["spec"]["strategy"]
    assert strategy["type"] == ("Recreate" if kept else "RollingUpdate")
    assert kept or strategy["rollingUpdate"]["maxUnavailable"] == 0
    if name == "default":
        claim = of(manifests, "PersistentVolumeClaim")
        assert claim["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}
    assert ("WARNING: the data folder ends with its pod" in notes(chart, VALUES[name])) == (name == "least")


def test_pods_are_replaced_only_where_they_must_be(chart):
    def sums(values):
        return of(rendered(chart, values), "Deployment")["spec"]["template"]["metadata"]["annotations"]

    text = '[[routes]]\nname = "no"\nrespond = { status = 404, body = "" }\n'
    rolls = {"rollOnConfigChange": True}
    assert sums({}) == sums({"config": text})
    assert sums({}) != sums({"listen": {"proxyProtocol": True}})
    assert sums(rolls) != sums(rolls | {"config": text}) != sums(rolls | {"config": text, "files": {"a.toml": ""}})


def test_secrets_are_only_named(chart):
    manifests = rendered(chart, EVERYTHING)
    text = yaml.safe_dump_all(manifests)
    assert "Secret" not in {one["kind"] for one in manifests}
    variables = {one["name"]: one for one in pod(manifests)["containers"][0]["env"]}
    reference = {"secretKeyRef": {"name": "openai", "key": "authorization"}}
    assert variables["OPENAI_AUTHORIZATION"] == {"name": "OPENAI_AUTHORIZATION", "valueFrom": reference}
    written = of(manifests, "ConfigMap")["data"]["portcullis.toml"]
    for key in ("master_key", "url", "access_key", "secret_key", "authorization"):
        [value] = re.findall(r"\b%s = (.*)" % key, written)
        assert re.match(r"\{ (file|env) = ", value), value
    # The gateway's own rules find no secret in what comes out, nor in the values; they would find one.
    for given, found in [(text, False), ((CHART / "values.yaml").read_text(), False), (text + PLANTED, True)]:
        done = run("detect", "--rulesets", "secrets", stdin=given)
        assert done.returncode == 0 and bool(done.out) == found, done.out + done.err


# Made up here, so that nobody who looks for secrets in this repository finds one.
PLANTED = "\nurl: postgres://portcullis:%s@db.example.com/portcullis\n" % base64.b64encode(bytes(range(24))).decode()


def written_out(manifests, home):
    """The files of the ConfigMap in a folder, with what they name below `/run/secrets` there as well."""
    files = of(manifests, "ConfigMap")["data"]
    (home / "run").mkdir()
    for name, text in files.items():
        (home / name).write_text(text.replace('"/run/secrets', '"%s/run' % home))
    issue(home, "tls", "portcullis")
    contents = {
        "portcullis/master-key": 64 * "0",
        "portcullis/store-url": "postgres://portcullis@db.example.com/portcullis",
        "portcullis/s3-access-key": "key",
        "portcullis/s3-secret-key": "secret",
        "authorities/ca.pem": (home / "tls.pem").read_text(),
        "tls/tls.crt": (home / "tls.pem").read_text(),
        "tls/tls.key": (home / "tls.key").read_text(),
    }
    for name, text in contents.items():
        (home / "run" / name).parent.mkdir(exist_ok=True)
        (home / "run" / name).write_text(text)
    return home / "portcullis.toml"


@every_values
def test_the_configuration_is_right(chart, values, tmp_path):
    check(written_out(rendered(chart, values), tmp_path))


def test_every_file_that_is_named_is_mounted(chart):
    manifests = rendered(chart, EVERYTHING)
    spec = pod(manifests)
    mounts = {mount["name"]: mount["mountPath"] for mount in spec["containers"][0]["volumeMounts"]}
    there = {mounts["tls"] + "/tls.crt", mounts["tls"] + "/tls.key", "/run/secrets/authorities/ca.pem"}
    [volume] = [volume for volume in spec["volumes"] if volume["name"] == "secrets"]
    for source in volume["projected"]["sources"]:
        there |= {"%s/%s" % (mounts["secrets"], item["path"]) for item in source["secret"]["items"]}
    assert set(re.findall(r'"(/run/secrets/[^"]*)"', of(manifests, "ConfigMap")["data"]["portcullis.toml"])) == there
    # For the group of the pod's user, and nobody else.
    assert volume["projected"]["defaultMode"] == 0o440


class Pod(Gateway):
    """As in a pod: everybody may write to the mounted volume."""

    def start(self, every=0.02):
        (self.home / "data").mkdir(exist_ok=True)
        (self.home / "data").chmod(0o2777)
        super().start(every)


def test_a_gateway_serves_with_it(chart, upstream):
    text = of(rendered(chart, {}), "ConfigMap")["data"]["portcullis.toml"].replace("{", "{{").replace("}", "}}")
    places = {"/data/": "{home}/data/", "0.0.0.0:8080": "127.0.0.1:{port}", "0.0.0.0:9180": "127.0.0.1:{admin}"}
    for old, new in (places | {"https://api.openai.com": "{upstream}"}).items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    with Pod(upstream.url, text) as running:
        assert running.call("GET", "/healthz", port=running.admin).status == 200
        answer = running.api("/v1/redact", {"text": "mail jane.doe@harbour-post.com"})
        assert answer.status == 200 and b"jane.doe" not in answer.body
        assert sorted(path.name for path in (running.home / "data").iterdir()) == ["portcullis"]


def test_the_chart_has_the_gateways_version():
    about = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert about["version"] == about["appVersion"] == cargo_version()
