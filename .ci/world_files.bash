# Checks the unit file, the job script and the manifests in docs/world.md with the programs that read such files.

# world_files FOLDER: writes the files to a folder, and checks them.
world_files() {
    local folder=$1
    rm -rf "$folder"
    mkdir -p "$folder"
    python3 - docs/world.md "$folder" <<'PYTHON'
import pathlib, re, sys
page, folder = pathlib.Path(sys.argv[1]).read_text(), pathlib.Path(sys.argv[2])
names = {"ini": "nation@.service", "bash": "nation.sbatch", "yaml": "nation.yaml"}
for language, name in names.items():
    blocks = re.findall(rf"```{language}\n(.*?)```", page, re.S)
    assert len(blocks) == 1, f"docs/world.md has {len(blocks)} blocks of {language}, not 1"
    (folder / name).write_text(blocks[0])
PYTHON
    bash -n "$folder/nation.sbatch"
    if command -v systemd-analyze > /dev/null; then
        # The program of the unit need not be installed here.
        sed -i 's#/usr/local/bin/nation#/bin/true#' "$folder/nation@.service"
        systemd-analyze verify --recursive-errors=no "$folder/nation@.service"
    else
        skip "systemd-analyze is not installed."
    fi
    if python3 -c 'import yaml' 2> /dev/null; then
        python3 - "$folder/nation.yaml" <<'PYTHON'
import sys, yaml
documents = list(yaml.safe_load_all(open(sys.argv[1])))
assert [document["kind"] for document in documents] == ["Service", "ConfigMap", "StatefulSet"], documents
service, hosts, pods = documents
hosts = hosts["data"]["hosts"].split()
count, name, port = pods["spec"]["replicas"], pods["metadata"]["name"], service["spec"]["ports"][0]["port"]
assert hosts == [f"{name}-{nth}.{service['metadata']['name']}:{port}" for nth in range(count)], hosts
assert pods["spec"]["serviceName"] == service["metadata"]["name"]
PYTHON
    else
        skip "Python has no parser of YAML."
    fi
}
