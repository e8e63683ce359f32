//! `portcullis keys`: the vault's keys, on the store itself. A running gateway reads an item again within a second.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use crate::app::{NewMaster, OldKeyFate, OpenStore, RotationObserver, replace_master};
use crate::base::clock::Timestamp;
use crate::base::id::ItemId;
use crate::base::listing::Order;
use crate::cli::args::StoreArgs;
use crate::cli::failure::Failure;
use crate::cli::keys_args::{GenerateArgs, KeyCommand, KeyId, NewSource};
use crate::cli::progress::Progress;
use crate::cli::settings::placed;
use crate::cli::streams::{message, result};
use crate::cli::style::{FAINT, PLAIN};
use crate::cli::table::Table;
use crate::config::{Config, Requirements};
use crate::vault::VaultError;
use crate::vault::items::{
    Algorithm, Frequency, ItemFilter, ItemKind, Items, KeyFacts, Label, ListItemsRequest, ListedItem,
    Material, NewItem, OpenItem as Item, OrderBy, Path, Purpose, Rotation, Selector, Version, VersionState,
};

impl From<VaultError> for Failure {
    fn from(error: VaultError) -> Self {
        Self::App(error.into())
    }
}

pub(super) fn run(place: &StoreArgs, command: KeyCommand) -> Result<(), Failure> {
    let config = placed(place, Requirements::VAULT)?;
    let opened = match command {
        KeyCommand::Generate(_) => OpenStore::at(&config)?,
        _ => OpenStore::existing(&config)?,
    };
    let done = command_on(&opened, &config, command);
    opened.io.block_on(opened.records.close());
    done
}

fn command_on(opened: &OpenStore, config: &Config, command: KeyCommand) -> Result<(), Failure> {
    if let KeyCommand::RotateMaster(args) = command {
        return rotate_master(opened, config, args.source, args.keep_old);
    }
    let items = Items::new(std::sync::Arc::new(opened.vault(config)?));
    opened.io.block_on(on_items(&items, command))
}

async fn on_items(items: &Items, command: KeyCommand) -> Result<(), Failure> {
    match command {
        KeyCommand::List { json } => list(items, json).await,
        KeyCommand::Show { key, json } => show(&*items.get(&id(&key)?).await?, json),
        KeyCommand::Generate(args) => generate(items, args).await,
        KeyCommand::Rotate { key, previous_state } => rotate(items, &id(&key)?, previous_state).await,
        KeyCommand::State { key, state, version } => {
            let (id, state) = (id(&key)?, one_state(&state, &VersionState::ALL)?);
            items.change_state(&id, single(version.as_deref())?, state, None).await?;
            message(state.name());
            Ok(())
        }
        KeyCommand::Public { key, jwk, version, .. } => {
            let (id, selector) = (id(&key)?, selector(version.as_deref())?);
            public(items, &id, selector, jwk).await
        }
        KeyCommand::Export { key, secret: false, version, .. } => {
            public(items, &id(&key)?, single(version.as_deref())?, false).await
        }
        KeyCommand::Export { key, version, .. } => {
            let selector = single(version.as_deref())?;
            let item = items.get(&id(&key)?).await?;
            let text = items.secret_text(&item, item.item.version(selector)?)?;
            result(text.expose().trim_end())
        }
        KeyCommand::Delete { key } => {
            let id = id(&key)?;
            if items.get(&id).await?.item.kind == ItemKind::Folder {
                return Err(Failure::Usage("this is a folder, not a key".to_owned()));
            }
            items.delete(&id, false).await?;
            message("deleted");
            Ok(())
        }
        KeyCommand::RotateMaster(_) => Ok(()),
    }
}

fn id(key: &KeyId) -> Result<ItemId, Failure> {
    ItemId::parse(&key.id).ok_or_else(|| {
        Failure::Usage(
            "this is not a key's id: that is pvi_ and 32 characters; `portcullis keys list` shows it"
                .to_owned(),
        )
    })
}

fn selector(text: Option<&str>) -> Result<Selector, Failure> {
    Selector::parse(text.unwrap_or_default())
        .ok_or_else(|| Failure::Usage("a version is a number from 1, -1 for the newest, or `all`".to_owned()))
}

fn single(text: Option<&str>) -> Result<Selector, Failure> {
    let one = Some(selector(text)?).filter(|selector| selector.is_single());
    one.ok_or_else(|| Failure::Usage("name one version: a number from 1, or -1 for the newest".to_owned()))
}

fn one_state(name: &str, of: &[VersionState]) -> Result<VersionState, Failure> {
    of.iter().copied().find(|state| state.name() == name).ok_or_else(|| {
        let known: Vec<&str> = of.iter().map(|state| state.name()).collect();
        Failure::Usage(format!("a state is one of {}", known.join(", ")))
    })
}

fn time(at: Option<Timestamp>) -> String {
    at.map_or_else(|| "-".to_owned(), Timestamp::iso8601)
}

async fn list(items: &Items, as_json: bool) -> Result<(), Failure> {
    let ask = ListItemsRequest {
        filter: ItemFilter::default(),
        after: None,
        order: Order::Ascending,
        order_by: OrderBy::CreatedAt,
        size: usize::MAX,
    };
    let page = items.list(&ask).await?;
    let listed = || page.items.iter().filter(|item| item.kind != ItemKind::Folder);
    if listed().next().is_none() {
        message("there are no keys; `portcullis keys generate --algorithm ES256` makes one");
    }
    let mut table = Table::new(&["ID", "NAME", "TYPE", "ALGORITHM", "STATE", "VERSIONS", "NEXT ROTATION"]);
    for item in listed() {
        let ListedItem { id, label, kind, next_rotation, versions, .. } = item;
        let enabled = item.is_enabled(items.now());
        let state = shown_state(enabled, item.state);
        if as_json {
            let line = json!({
                "id": id.to_string(), "name": label.name, "folder": label.folder.to_string(), "type": kind.name(),
                "purpose": item.key.map(|key| key.purpose.name()),
                "algorithm": item.key.map(|key| key.algorithm.name()), "state": state, "num_versions": versions,
                "created_at": item.created_at.iso8601(), "next_rotation": next_rotation.map(Timestamp::iso8601),
            });
            result(&line.to_string())?;
            continue;
        }
        let algorithm = item.key.map_or("-", |key| key.algorithm.name());
        let named = [id.to_string(), label.name.clone()].into_iter();
        let facts = [kind.name(), algorithm, state].into_iter().map(str::to_owned);
        let numbers = [versions.to_string(), time(*next_rotation)];
        table.row(named.chain(facts).chain(numbers).collect(), if enabled { PLAIN } else { FAINT });
    }
    if as_json { Ok(()) } else { table.print() }
}

/// The state of the newest version, or that somebody switched the item off.
fn shown_state(enabled: bool, newest: Option<VersionState>) -> &'static str {
    match (enabled, newest) {
        (false, _) => "disabled",
        (true, Some(state)) => state.name(),
        (true, None) => "-",
    }
}

fn show(item: &Item, as_json: bool) -> Result<(), Failure> {
    let (it, next) = (&item.item, item.next_rotation());
    let version = |version: &Version| {
        json!({
            "version": version.number, "state": version.state.name(), "created_at": version.created_at.iso8601(),
            "destroyed_at": version.destroyed_at.map(Timestamp::iso8601),
        })
    };
    let versions: Vec<Value> = it.versions.iter().map(version).collect();
    if as_json {
        return result(
            &json!({
                "id": it.id.to_string(), "name": it.label.name, "folder": it.label.folder.to_string(),
                "type": it.kind.name(), "purpose": it.key.map(|key| key.purpose.name()),
                "algorithm": it.key.map(|key| key.algorithm.name()),
                "exportable": it.key.map(|key| key.exportable), "created_at": it.created_at.iso8601(),
                "disabled_at": it.label.disabled_at.map(Timestamp::iso8601), "enabled": !it.label.off,
                "rotation_frequency": item.settled.frequency.to_string(),
                "rotation_state": item.settled.state.name(), "next_rotation": next.map(Timestamp::iso8601),
                "versions": versions,
            })
            .to_string(),
        );
    }
    let facts = it.key.map(|key| {
        let exportable = if key.exportable { "yes" } else { "no" };
        [("purpose", key.purpose.name()), ("algorithm", key.algorithm.name()), ("exportable", exportable)]
    });
    result(&format!("id\t{}\nname\t{}\nfolder\t{}", it.id, it.label.name, it.label.folder))?;
    result(&format!("type\t{}", it.kind.name()))?;
    for (name, value) in facts.into_iter().flatten() {
        result(&format!("{name}\t{value}"))?;
    }
    result(&format!("created\t{}\nnext rotation\t{}", it.created_at.iso8601(), time(next)))?;
    result("VERSION\tSTATE\tCREATED\tDESTROYED")?;
    for version in &it.versions {
        let Version { number, state, created_at, destroyed_at, .. } = version;
        let (state, created, destroyed) = (state.name(), created_at.iso8601(), time(*destroyed_at));
        result(&format!("{number}\t{state}\t{created}\t{destroyed}"))?;
    }
    Ok(())
}

async fn generate(items: &Items, args: GenerateArgs) -> Result<(), Failure> {
    let usage = |why: &str| Failure::Usage(why.to_owned());
    let found = ItemKind::ALL.into_iter().flat_map(|kind| Purpose::ALL.map(|purpose| (kind, purpose)));
    let found = found.flat_map(|(kind, purpose)| {
        Algorithm::all(kind, purpose).into_iter().map(move |algorithm| (kind, purpose, algorithm))
    });
    let mut all = found.clone();
    let Some((kind, purpose, algorithm)) =
        all.find(|(_, _, algorithm)| algorithm.name().eq_ignore_ascii_case(&args.algorithm))
    else {
        let known: Vec<&str> = found.map(|(_, _, algorithm)| algorithm.name()).collect();
        return Err(Failure::Usage(format!("an algorithm is one of {}", known.join(", "))));
    };
    let name = args.name.unwrap_or_default();
    if name.len() > 256 || name.contains(char::is_control) {
        return Err(usage("a name has at most 256 bytes and no control characters"));
    }
    let folder = match args.folder {
        Some(path) => Path::parse(&path).ok_or_else(|| usage("a folder is a path such as /teams/billing"))?,
        None => Path::root(),
    };
    let frequency = match args.rotate_every {
        Some(text) => {
            Some(Frequency::parse(&text).ok_or_else(|| usage("say never, or a time such as 30d or 12h"))?)
        }
        None => None,
    };
    let label = Label {
        name,
        folder,
        metadata: std::collections::BTreeMap::new(),
        tags: Vec::new(),
        off: false,
        disabled_at: None,
        rotation: Rotation { frequency, state: None },
    };
    let key = Some(KeyFacts { purpose, algorithm, exportable: args.exportable });
    let made =
        items.create(NewItem { kind, label, key, material: Material::generate(algorithm).await? }).await?;
    result(&made.item.id.to_string())
}

async fn rotate(items: &Items, id: &ItemId, then: Option<String>) -> Result<(), Failure> {
    let states = [VersionState::Deactivated, VersionState::Suspended, VersionState::Destroyed];
    let then = then.map(|name| one_state(&name, &states)).transpose()?;
    let Some(facts) = items.get(id).await?.item.key else {
        return Err(Failure::Usage(
            "only keys are made here; give a secret its new text through the API".to_owned(),
        ));
    };
    let rotated = items.rotate(id, &Material::generate(facts.algorithm).await?, then).await?;
    result(&rotated.item.current()?.number.to_string())
}

async fn public(items: &Items, id: &ItemId, selector: Selector, jwk: bool) -> Result<(), Failure> {
    if jwk {
        let keys = items.public_keys(id, selector).await?;
        return result(&json!({ "keys": keys }).to_string());
    }
    for pem in items.public_pems(id, selector).await? {
        result(pem.trim_end())?;
    }
    Ok(())
}

fn rotate_master(
    opened: &OpenStore,
    config: &Config,
    source: NewSource,
    keep_old: bool,
) -> Result<(), Failure> {
    let NewSource { new_file, new_env, new_command, new_passphrase_file, new_passphrase_env } = source;
    let new = new_file
        .map(NewMaster::File)
        .or(new_env.map(NewMaster::Env))
        .or(new_command.map(NewMaster::Command))
        .or(new_passphrase_file.map(NewMaster::PassphraseFile))
        .or(new_passphrase_env.map(NewMaster::PassphraseEnv))
        .unwrap_or(NewMaster::Own);
    let progress = Progress::rows();
    let begun = || {
        message("both master keys open the store until this is done; if it stops, run it again");
        progress.name("waiting for gateways to notice");
    };
    let sealed = AtomicU64::new(0);
    let looked = |anew| {
        let sealed = sealed.fetch_add(u64::from(anew), Ordering::Relaxed) + u64::from(anew);
        progress.add(1);
        progress.name(&format!("{sealed} of them sealed anew"));
    };
    let replaced =
        replace_master(opened, config, &new, keep_old, RotationObserver { begun: &begun, looked: &looked })?;
    drop(progress);
    match replaced {
        OldKeyFate::Finished => {
            message("finished a replacement that was stopped before: the old master key is dropped")
        }
        OldKeyFate::Kept(rows) => message(&format!(
            "{rows} rows sealed anew; both master keys open the store. Name the new one in the configuration, send \
             SIGHUP to running gateways, then run this again"
        )),
        OldKeyFate::Dropped(rows) => {
            message(&format!("{rows} rows sealed anew; the old master key is dropped"));
        }
    }
    Ok(())
}
