//! What requests to models take: tokens, what they cost, and budgets that bound both.
//!
//! | file | noun |
//! |---|---|
//! | `tokens` | [`TokenUsage`]: the tokens of one answer |
//! | `cost` | [`Cost`]: money, exact; [`Price`]: of a token |
//! | `model_name` | what of a request's `model` is the name of one |
//! | `named_models` | which models have sums of their own |
//! | `prices` | [`PriceTable`]: which model costs what |
//! | `spend` | [`Spend`]: requests, tokens and money together; [`SpendLimit`]: a bound on each |
//! | `budget` | [`SpendBudget`]: such a bound for a stretch of the calendar; [`Account`]: one holder's |
//! | `line` | what is known of one account in one window |
//! | `reservation` | [`Reservation`]: what a request under way may yet spend; [`OverBudget`]: why it may not |
//! | `ledger` | [`Ledger`]: what accounts have spent |
//! | `shared` | [`SharedBudgets`]: the same over all nodes, in an engine that they share |
//! | `books` | the same in the store, where all nodes add to it |
//! | `sum_rows` | rows of sums to which all nodes add, none of them twice |
//! | `accounts` | [`spent_accounts`]: who has spent of a budget, as the store has it |
//! | `report` | [`UsageReport`]: sums by day, token, route and model |

mod accounts;
mod books;
mod budget;
mod cost;
mod ledger;
mod line;
mod model_name;
mod named_models;
mod prices;
mod report;
mod reservation;
mod shared;
mod spend;
mod sum_rows;
mod tokens;

pub use accounts::{SpentAccounts, spent_accounts};
pub use budget::{Account, BudgetError, BudgetHolder, BudgetMode, BudgetScope, SpendBudget, Spender};
pub(crate) use cost::dollars;
pub use cost::{AmountError, Cost, Price};
pub use ledger::Ledger;
pub use model_name::model_name;
pub use prices::{ModelPattern, ModelPatternError, ModelPrice, PriceTable};
pub use report::{UsageKey, UsageReport, UsageRow, UsageTotals};
pub use reservation::{OverBudget, Remaining, Reservation};
pub use shared::SharedBudgets;
pub use spend::{Spend, SpendLimit};
pub use tokens::TokenUsage;
