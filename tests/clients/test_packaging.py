"""What the gateway is shipped in besides the chart: the Debian package, the release workflow and the compose files. Nothing here
talks to an engine for containers or to a forge."""

import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import pytest
import yaml
from gateway import BINARY, ROOT, run

COMPOSE = ROOT / "examples/compose"
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yaml"))


def check(*files):
    """Each is a configuration without a problem."""
    for file in files:
        done = run("check", "-c", file)
        assert done.returncode == 0, done.out + done.err


def matches_schema(schema, *files):
    """By a schema that `check-jsonschema` carries."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor." + schema, *files]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def cargo_version():
    return re.search(r'^version = "(.*)"$', (ROOT / "Cargo.toml").read_text(), re.M)[1]


# ── The Debian package ──


@pytest.fixture(scope="module")
def package():
    """A package of the binary under test, and what is in it; its files are large, so nothing of it stays."""
    for tool in ("dpkg-deb", "readelf"):
        if not shutil.which(tool):
            pytest.skip("%s is missing: no Debian package is built" % tool)
    with tempfile.TemporaryDirectory(prefix="portcullis-test-") as folder:
        done = build_package(BINARY, folder)
        assert done.returncode == 0, done.stderr
        [file] = Path(folder).iterdir()
        assert done.stdout.strip() == str(file)
        yield file


def build_package(binary, folder):
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "COMPRESSION": "none"}
    return subprocess.run([ROOT / "conf/deb/build", binary, folder], capture_output=True, text=True, env=environment)


def dpkg_deb(*args):
    return subprocess.run(["dpkg-deb", *args], capture_output=True, text=True, check=True).stdout


def member(package, name):
    """The text of one of its files."""
    with tempfile.TemporaryFile() as archive:
        subprocess.run(["dpkg-deb", "--fsys-tarfile", package], stdout=archive, check=True)
        archive.seek(0)
        with tarfile.open(fileobj=archive) as tree:
            return tree.extractfile("./" + name).read().decode()


def test_a_package_says_what_it_is(package):
    fields = dict(re.findall(r"^(\S+): (.*)$", dpkg_deb("--field", package), re.M))
    assert fields["Package"] == "portcullis" and fields["Version"] == cargo_version()
    assert fields["Architecture"] in ("amd64", "arm64") and int(fields["Installed-Size"]) > 1000
    assert package.name == "portcullis_%s_%s.deb" % (cargo_version(), fields["Architecture"])
    assert re.search(r"\blibc6 \(>= 2\.\d+\)", fields["Depends"]) and "adduser" in fields["Depends"]
    info = dpkg_deb("--info", package)
    for script in ("postinst", "prerm", "postrm"):
        assert re.search(r"\* +%s\b" % script, info), info
        assert subprocess.run(["sh", "-n", ROOT / "conf/deb" / script]).returncode == 0
    assert "conffiles" in info


def test_a_package_has_what_it_should(package):
    lines = [line.split(maxsplit=5) for line in dpkg_deb("--contents", package).splitlines()]
    modes = {name.removeprefix("."): mode for mode, _, _, _, _, name in lines}
    assert {owner for _, owner, *_ in lines} == {"root/root"}
    assert modes["/usr/bin/portcullis"] == "-rwxr-xr-x"
    assert modes["/etc/portcullis/portcullis.toml"] == "-rw-r-----"
    assert modes["/usr/lib/systemd/system/portcullis.service"] == "-rw-r--r--"
    assert modes["/usr/share/doc/portcullis/examples/portcullis.toml"] == "-rw-r--r--"
    assert all(mode in ("drwxr-xr-x", "-rw-r--r--") for name, mode in modes.items() if name.startswith("/usr/share"))


def test_a_package_has_pages_and_completions(package):
    names = {line.split(maxsplit=5)[5] for line in dpkg_deb("--contents", package).splitlines()}
    for name in (
        "man/man1/portcullis.1.gz",
        "man/man1/portcullis-tokens-create.1.gz",
        "bash-completion/completions/portcullis",
        "zsh/vendor-completions/_portcullis",
        "fish/vendor_completions.d/portcullis.fish",
    ):
        assert "./usr/share/" + name in names
    assert "complete -F" in member(package, "usr/share/bash-completion/completions/portcullis")


def test_a_packages_configuration_is_right(package, tmp_path):
    file = tmp_path / "portcullis.toml"
    file.write_text(member(package, "etc/portcullis/portcullis.toml"))
    check(file)
    text = file.read_text()
    assert 'data = "/var/lib/portcullis"' in text and "[admin]" in text
    minimal = (ROOT / "conf/minimal.toml").read_text()
    assert text.endswith(minimal[minimal.index("\n[") + 1 :])


def test_a_packages_unit_is_sound(package, tmp_path):
    text = member(package, "usr/lib/systemd/system/portcullis.service")
    assert "ExecStart=/usr/bin/portcullis serve --config /etc/portcullis/portcullis.toml\n" in text
    assert "\nUser=portcullis\n" in text and "DynamicUser" not in text and "/usr/local" not in text
    # All else is as in the unit that is copied by hand.
    theirs, ours = (
        {line for line in unit.splitlines() if re.match(r"\w+=", line)}
        for unit in (text, (ROOT / "conf/portcullis.service").read_text())
    )
    assert {line.split("=")[0] for line in theirs ^ ours} == {"ExecStart", "User", "Group", "DynamicUser"}
    if not (systemd := shutil.which("systemd-analyze")):
        pytest.skip("systemd-analyze is missing: the unit is not verified")
    unit = tmp_path / "portcullis.service"
    unit.write_text(text.replace("/usr/bin/portcullis", str(BINARY)))
    done = subprocess.run([systemd, "verify", unit], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    secure = [systemd, "security", "--offline=true", "--threshold=25", unit]
    done = subprocess.run(secure, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_no_package_is_made_of_anything_else(package, tmp_path):
    for name, binary in {"is not there": tmp_path / "none", "is no program": ROOT / "Cargo.toml"}.items():
        done = build_package(binary, tmp_path)
        assert done.returncode == 1 and "deb/build: " in done.stderr and not list(tmp_path.glob("*.deb")), name


# ── The workflow ──


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_workflows_are_sound(file):
    matches_schema("github-workflows", file)
    workflow = yaml.safe_load(file.read_text())
    assert workflow["permissions"] == {}, "jobs say what they need"
    for name, job in workflow["jobs"].items():
        assert isinstance(job["permissions"], dict) and job["timeout-minutes"], name
        for other in [job["needs"]] if isinstance(job.get("needs"), str) else job.get("needs", []):
            assert other in workflow["jobs"], other
        for step in job["steps"]:
            if "uses" in step:
                assert re.fullmatch(r"[\w.-]+(/[\w.-]+)+@v\d+", step["uses"]), step["uses"]
                assert not step["uses"].startswith("actions/checkout@") or step["with"]["persist-credentials"] is False
            else:
                # What GitHub puts in place of an expression would be read by the shell.
                assert "${{" not in step["run"], step["run"]
                done = subprocess.run(["bash", "-n"], input=step["run"], text=True, capture_output=True)
                assert done.returncode == 0, done.stderr


def test_jobs_may_write_only_what_they_make():
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yaml").read_text())["jobs"]
    writes = {name: {what for what, how in job["permissions"].items() if how == "write"} for name, job in jobs.items()}
    assert {name: what for name, what in writes.items() if what} == {
        "image": {"packages"},
        "image-index": {"packages", "id-token"},
        "release": {"contents", "id-token"},
    }


def test_a_release_is_built_tested_and_signed():
    text = (ROOT / ".github/workflows/release.yaml").read_text()
    jobs = yaml.safe_load(text)["jobs"]
    targets = {row["target"] for row in jobs["binaries"]["strategy"]["matrix"]["include"]}
    assert targets == {"x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "aarch64-apple-darwin"}
    for name in ("image-index", "release"):
        assert "test" in jobs[name]["needs"], "nothing is published before the tests have passed"
    for part in ("./tests/run --quick", "conf/deb/build", "conf/Dockerfile", "sbom-action", "sha256sum", "cosign sign"):
        assert part in text, part
    # Files that it names.
    for path in re.findall(r"\b(?:conf|tests)/[\w./-]+\w", text):
        assert (ROOT / path).exists(), path


# ── The compose files ──


COMPOSED = sorted(COMPOSE.glob("*.yaml"))


@pytest.mark.parametrize("file", COMPOSED, ids=lambda file: file.name)
def test_compose_files_are_sound(file):
    matches_schema("compose-spec", file)
    project = yaml.safe_load(file.read_text())
    services, volumes = project["services"], project.get("volumes", {})
    used = set()
    for name, service in services.items():
        assert set(service.get("depends_on", {})) <= set(services), name
        if "build" in service:
            context = (COMPOSE / service["build"]["context"]).resolve()
            assert context == ROOT and (context / service["build"]["dockerfile"]).is_file(), name
        else:
            assert re.search(r":(?!latest$)[\w.-]+$", service["image"]), service["image"]
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert (COMPOSE / source).is_file() if source.startswith(".") else source in volumes, volume
            used.add(source)
        for port in service.get("ports", []):
            assert port.startswith("127.0.0.1:"), "for this machine alone: %s" % port
        for key, value in (service.get("environment") or {}).items():
            secret = re.search("PASSWORD|SECRET|KEY|AUTHORIZATION", key)
            assert not secret or re.fullmatch(r"\$\{\w+:\?[^}]*\}", value), key
    assert set(volumes) <= used


def test_compose_files_have_right_configurations():
    files = sorted(COMPOSE.rglob("*.toml"))
    assert len(files) == 2
    check(*files)


def test_the_company_fits_together():
    services = yaml.safe_load((COMPOSE / "company.yaml").read_text())
    networks, services = services["networks"], services["services"]
    text = (COMPOSE / "company/portcullis.toml").read_text()
    gateways = {name for name, service in services.items() if service.get("image") == "portcullis-company"}
    assert len(gateways) == 2
    # Gateways believe the balancer alone.
    address = services["balancer"]["networks"]["default"]["ipv4_address"]
    assert 'trusted_peers = ["%s"]' % address in text
    assert address.rsplit(".", 1)[0] + ".0/24" == networks["default"]["ipam"]["config"][0]["subnet"]
    for name in gateways:
        assert set(re.findall(r'env = "(\w+)"', text)) <= set(services[name]["environment"])
        assert services[name]["read_only"] and services[name]["cap_drop"] == ["ALL"]
    # They count together, as many as there are.
    [shared] = {services[name]["environment"]["PORTCULLIS_LIMITS_URL"] for name in gateways}
    assert shared.split("@")[1].split(":")[0] in services and "nodes = %d\n" % len(gateways) in text
    balancer = (COMPOSE / "company/haproxy.cfg").read_text()
    assert set(re.findall(r"^ +server (\S+) \S+:8080$", balancer, re.M)) == gateways
    [job] = yaml.safe_load((COMPOSE / "company/prometheus.yaml").read_text())["scrape_configs"]
    assert set(job["static_configs"][0]["targets"]) == {name + ":9180" for name in gateways}
    [source] = yaml.safe_load((COMPOSE / "company/grafana-datasource.yaml").read_text())["datasources"]
    assert source["url"].split("/")[2].split(":")[0] in services
    [provider] = yaml.safe_load((COMPOSE / "company/grafana-dashboards.yaml").read_text())["providers"]
    boards = "../../conf/grafana.json:%s/portcullis.json:ro" % provider["options"]["path"]
    assert boards in services["grafana"]["volumes"]
