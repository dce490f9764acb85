//! Does the steps of ../scenario.md with azure_data_cosmos, and then queries.rs. This SDK speaks HTTP/2, over TLS only.

mod queries;

use azure_core::credentials::Secret;
use azure_core::http::Etag;
use azure_data_cosmos::clients::{ContainerClient, DatabaseClient};
use azure_data_cosmos::models::{
    ContainerProperties, CosmosNumber, PatchInstructions, PatchOperation,
};
use azure_data_cosmos::options::{
    BatchOptions, ContentResponseOnWrite, ItemWriteOptions, MaxItemCountHint,
    OperationOptionsBuilder, Precondition, QueryOptions, Region,
};
use azure_data_cosmos::{
    AccountEndpoint, AccountReference, CosmosClient, FeedScope, PartitionKey, RoutingStrategy, TransactionalBatch,
};
use futures::{StreamExt, TryStreamExt};
use serde_json::{json, Value};
use std::collections::HashSet;
use std::num::NonZeroU32;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

pub type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

const TEXT: &str = "é 日本 😀 שלום \u{2028} \\ \" /";
const ODD_IDS: [&str; 7] = [
    "a b",
    "100%",
    "a+b&c=d@e:f",
    "'single' and \"double\"",
    "é日本😀",
    "a.b..c",
    "a;b,c$d!e*f(g)",
];

/// What was counted so far.
#[derive(Default)]
pub struct Count {
    passed: usize,
    failed: usize,
}

impl Count {
    pub fn add(&mut self, name: &str, outcome: Outcome<()>) {
        match outcome {
            Ok(()) => self.passed += 1,
            Err(problem) => {
                println!("FAILED {name}: {problem}");
                self.failed += 1;
            }
        }
    }
}

/// Names the condition that does not hold.
pub fn must(condition: bool, what: &str) -> Outcome<()> {
    if condition {
        return Ok(());
    }
    Err(format!("not true: {what}").into())
}

/// Turns the expected refusal into success and everything else into an error.
pub fn refused<T>(status: u16, answer: azure_data_cosmos::Result<T>) -> Outcome<()> {
    match answer {
        Ok(_) => Err(format!("expected a refusal with {status}, and it was done").into()),
        Err(error) if u16::from(error.status().status_code()) == status => Ok(()),
        Err(error) => Err(format!("expected a refusal with {status}, got: {error}").into()),
    }
}

pub async fn open() -> Outcome<CosmosClient> {
    let endpoint: AccountEndpoint = std::env::var("ORRERY_ENDPOINT")?.parse()?;
    let key = Secret::from(std::env::var("ORRERY_KEY")?);
    let account = AccountReference::with_authentication_key(endpoint, key);
    let nearby = RoutingStrategy::ProximityTo(Region::from("East US".to_string()));
    Ok(CosmosClient::builder().build(account, nearby).await?)
}

/// A name that no earlier run has used.
pub fn fresh(name: &str) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock");
    format!("{name}-rust-{}", now.as_nanos())
}

/// Asks for the item in the answer to a write, which this SDK otherwise leaves out.
fn full() -> Option<ItemWriteOptions> {
    let options = OperationOptionsBuilder::new()
        .with_content_response_on_write(ContentResponseOnWrite::Enabled)
        .build();
    Some(ItemWriteOptions::default().with_operation_options(options))
}

struct Scenario {
    client: CosmosClient,
    name: String,
    database: DatabaseClient,
    single: Option<ContainerClient>,
    levels: Option<ContainerClient>,
    etag: Option<Etag>,
}

impl Scenario {
    fn single(&self) -> &ContainerClient {
        self.single.as_ref().expect("the container of step 3")
    }

    fn levels(&self) -> &ContainerClient {
        self.levels.as_ref().expect("the container of step 4")
    }

    async fn read(&self, id: &str, key: impl Into<PartitionKey>) -> Outcome<Value> {
        Ok(self.single().read_item(key, id, None).await?.into_model()?)
    }

    async fn create_database(&self) -> Outcome<()> {
        self.client.create_database(&self.name, None).await?;
        refused(409, self.client.create_database(&self.name, None).await)
    }

    async fn read_database(&self) -> Outcome<()> {
        let read = self.database.read(None).await?.into_model()?;
        must(read.id.as_deref() == Some(&self.name), "the database's id")?;
        let mut found = self.client.query_databases("SELECT * FROM r", None).await?;
        while let Some(one) = found.try_next().await? {
            if one.id.as_deref() == Some(&self.name) {
                return Ok(());
            }
        }
        Err("it is not in the list".into())
    }

    async fn create_container(&mut self) -> Outcome<()> {
        let definition = ContainerProperties::new("single", "/pk".into());
        self.database.create_container(definition, None).await?;
        let single = self.database.container_client("single", None).await?;
        let policy = single.read(None).await?.into_model()?.indexing_policy;
        let policy = serde_json::to_value(policy)?;
        self.single = Some(single);
        must(
            policy["indexingMode"] == "consistent" && policy["includedPaths"][0]["path"] == "/*",
            &format!("the default indexing policy: {policy}"),
        )
    }

    async fn create_hierarchical_container(&mut self) -> Outcome<()> {
        let definition: ContainerProperties = serde_json::from_value(json!({
            "id": "levels",
            "partitionKey": {"paths": ["/tenant", "/user", "/session"], "kind": "MultiHash", "version": 2},
        }))?;
        self.database.create_container(definition.clone(), None).await?;
        self.levels = Some(self.database.container_client("levels", None).await?);
        refused(409, self.database.create_container(definition, None).await)
    }

    async fn create_item(&mut self) -> Outcome<()> {
        let item = json!({"id": "1", "pk": "a", "n": 1, "text": TEXT});
        let created = self.single().create_item("a", "1", &item, None).await?;
        must(created.headers().session_token().is_some(), "a session token")?;
        self.etag = created.headers().etag().cloned();
        must(self.etag.is_some(), "an etag")
    }

    async fn read_item(&self) -> Outcome<()> {
        let found = self.read("1", "a").await?;
        let etag = self.etag.as_ref().map(|etag| etag.to_string());
        must(found["text"] == TEXT && found["n"] == 1, "the item as it was sent")?;
        must(found["_etag"].as_str() == etag.as_deref(), "its etag")
    }

    async fn read_absent_item(&self) -> Outcome<()> {
        refused(404, self.single().read_item("a", "none", None).await)
    }

    async fn create_existing_item(&self) -> Outcome<()> {
        let item = json!({"id": "1", "pk": "a"});
        refused(409, self.single().create_item("a", "1", &item, None).await)
    }

    async fn replace_item(&self) -> Outcome<()> {
        let item = json!({"id": "1", "pk": "a", "n": 2});
        let replaced = self.single().replace_item("a", "1", &item, full()).await?;
        must(replaced.headers().etag() != self.etag.as_ref(), "another etag")?;
        let found: Value = replaced.into_model()?;
        must(found["n"] == 2, "the item in the answer")
    }

    async fn replace_on_condition(&self) -> Outcome<()> {
        let first = Precondition::if_match(self.etag.clone().ok_or("no etag")?);
        let options = ItemWriteOptions::default().with_precondition(first);
        let item = json!({"id": "1", "pk": "a", "n": 9});
        refused(412, self.single().replace_item("a", "1", &item, Some(options)).await)?;
        must(self.read("1", "a").await?["n"] == 2, "the item as before")
    }

    async fn upsert_items(&self) -> Outcome<()> {
        let first = json!({"id": "1", "pk": "a", "n": 3});
        let first = self.single().upsert_item("a", "1", &first, None).await?;
        let second = self.single().upsert_item("a", "2", &json!({"id": "2", "pk": "a"}), None).await?;
        let statuses = (u16::from(first.status().status_code()), u16::from(second.status().status_code()));
        must(statuses == (200, 201), &format!("200, then 201, and not {statuses:?}"))
    }

    async fn odd_ids(&self) -> Outcome<()> {
        for id in ODD_IDS {
            let item = json!({"id": id, "pk": "a"});
            self.single().create_item("a", id, &item, None).await?;
            let found = self.read(id, "a").await?;
            must(found["id"] == id, &format!("{id} came back as {}", found["id"]))?;
            self.single().delete_item("a", id, None).await?;
        }
        Ok(())
    }

    async fn keys_that_are_none(&self) -> Outcome<()> {
        let item = json!({"id": "null", "pk": null});
        self.single().create_item(PartitionKey::NULL, "null", &item, None).await?;
        self.read("null", PartitionKey::NULL).await?;
        let item = json!({"id": "absent"});
        self.single().create_item(PartitionKey::UNDEFINED, "absent", &item, None).await?;
        self.read("absent", PartitionKey::UNDEFINED).await?;
        Ok(())
    }

    async fn hierarchical_item(&self) -> Outcome<()> {
        let item = json!({"id": "1", "tenant": "t", "user": "u", "session": 5});
        self.levels().create_item(("t", "u", 5), "1", &item, None).await?;
        self.levels().read_item(("t", "u", 5), "1", None).await?;
        refused(404, self.levels().read_item(("t", "u", 6), "1", None).await)
    }

    /// Side by side, which over HTTP/2 is on one connection.
    async fn read_by_pages(&self) -> Outcome<()> {
        let created: Vec<_> = futures::stream::iter(0..25)
            .map(|n| async move {
                let id = format!("many-{n}");
                self.single().create_item("many", &id, &json!({"id": id, "pk": "many"}), None).await
            })
            .buffer_unordered(25)
            .collect()
            .await;
        for one in created {
            one?;
        }
        let ten = MaxItemCountHint::Limit(NonZeroU32::new(10).expect("ten"));
        let options = QueryOptions::default().with_max_item_count(ten);
        let many = FeedScope::partition("many");
        let mut pages =
            self.single().query_items::<Value>("SELECT * FROM c", many, Some(options)).await?.into_pages();
        let (mut seen, mut count) = (HashSet::new(), 0);
        while let Some(page) = pages.try_next().await? {
            must(page.items().len() <= 10, "pages of ten")?;
            count += page.items().len();
            seen.extend(page.items().iter().map(|one| one["id"].to_string()));
        }
        must(count == 25 && seen.len() == 25, "each of 25 items, once")
    }

    async fn replace_container(&self) -> Outcome<()> {
        let mut definition = self.single().read(None).await?.into_model()?;
        definition.default_ttl = 3600.into();
        self.single().replace(definition, None).await?;
        let found = serde_json::to_value(self.single().read(None).await?.into_model()?)?;
        must(found["defaultTtl"] == 3600, "the time to live that was set")
    }

    async fn patch_item(&self) -> Outcome<()> {
        let first = json!({"id": "1", "pk": "a", "n": 3, "list": [1], "old": "text"});
        self.single().upsert_item("a", "1", &first, None).await?;
        let changes = PatchInstructions::new()
            .with_operation(PatchOperation::add("/list/-", json!(2)))
            .with_operation(PatchOperation::set("/other", json!("x")))
            .with_operation(PatchOperation::replace("/list/0", json!(0)))
            .with_operation(PatchOperation::increment("/n", CosmosNumber::from(2i64)))
            .with_operation(PatchOperation::remove("/old"));
        self.single().patch_item("a", "1", changes, None).await?;
        let found = self.read("1", "a").await?;
        must(
            found["n"] == 5 && found["list"] == json!([0, 2]) && found["old"].is_null() && found["other"] == "x",
            &format!("the patched item: {found}"),
        )
    }

    async fn statuses(&self, batch: TransactionalBatch) -> Outcome<Vec<u16>> {
        let options = OperationOptionsBuilder::new()
            .with_content_response_on_write(ContentResponseOnWrite::Enabled)
            .build();
        let options = BatchOptions::default().with_operation_options(options);
        let answer = self.single().execute_transactional_batch(batch, Some(options)).await?.into_model()?;
        Ok(answer.results().iter().map(|one| one.status_code()).collect())
    }

    async fn send_batches(&self) -> Outcome<()> {
        let all = TransactionalBatch::new("batch")
            .create_item(json!({"id": "x", "pk": "batch", "n": 1}))?
            .read_item("x", None)
            .replace_item("x", json!({"id": "x", "pk": "batch", "n": 2}), None)?
            .upsert_item(json!({"id": "y", "pk": "batch"}), None)?
            .delete_item("y", None);
        let found = self.statuses(all).await?;
        must(found == [201, 200, 200, 201, 204], &format!("what became of each: {found:?}"))?;
        must(self.read("x", "batch").await?["n"] == 2, "what the batch wrote")?;
        let none = TransactionalBatch::new("batch")
            .create_item(json!({"id": "z", "pk": "batch"}))?
            .create_item(json!({"id": "x", "pk": "batch"}))?;
        let found = self.statuses(none).await?;
        must(found == [424, 409], &format!("which one it was: {found:?}"))?;
        refused(404, self.single().read_item("batch", "z", None).await)
    }

    async fn delete_item(&self) -> Outcome<()> {
        self.single().delete_item("a", "1", None).await?;
        refused(404, self.single().read_item("a", "1", None).await)?;
        refused(404, self.single().delete_item("a", "1", None).await)
    }

    async fn delete_container(&self) -> Outcome<()> {
        self.levels().delete(None).await?;
        refused(404, self.levels().read(None).await)
    }

    async fn delete_database(&self) -> Outcome<()> {
        self.database.delete(None).await?;
        refused(404, self.database.read(None).await)
    }
}

/// The steps by their names in scenario.md. Without what a step makes, those behind it cannot go on.
async fn steps(s: &mut Scenario, count: &mut Count) {
    count.add("create a database", s.create_database().await);
    count.add("read the database", s.read_database().await);
    count.add("create a container", s.create_container().await);
    count.add("create a container of a hierarchical key", s.create_hierarchical_container().await);
    if s.single.is_none() || s.levels.is_none() {
        return;
    }
    count.add("create an item", s.create_item().await);
    count.add("read the item", s.read_item().await);
    count.add("read an item that is not there", s.read_absent_item().await);
    count.add("create the item again", s.create_existing_item().await);
    count.add("replace the item", s.replace_item().await);
    count.add("replace it on a condition", s.replace_on_condition().await);
    count.add("upsert items", s.upsert_items().await);
    count.add("ids with odd characters", s.odd_ids().await);
    count.add("a null key, and none", s.keys_that_are_none().await);
    count.add("an item of a hierarchical key", s.hierarchical_item().await);
    count.add("read by pages", s.read_by_pages().await);
    count.add("set the time to live", s.replace_container().await);
    count.add("patch an item", s.patch_item().await);
    count.add("send batches", s.send_batches().await);
    count.add("delete the item", s.delete_item().await);
    count.add("delete the container", s.delete_container().await);
    count.add("delete the database", s.delete_database().await);
}

async fn run(count: &mut Count) -> Outcome<()> {
    let client = open().await?;
    let name = fresh("scenario");
    let database = client.database_client(name.clone());
    let mut scenario = Scenario { client: client.clone(), name, database, single: None, levels: None, etag: None };
    steps(&mut scenario, count).await;
    queries::run(&client, count).await
}

#[tokio::main]
async fn main() -> ExitCode {
    let mut count = Count::default();
    let outcome = run(&mut count).await;
    count.add("to its end", outcome);
    println!("{} passed, {} failed", count.passed, count.failed);
    ExitCode::from(u8::from(count.failed > 0))
}
