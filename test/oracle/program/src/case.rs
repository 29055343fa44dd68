//! The JSON of cases and answers. Quantities and bytes are hexadecimal with 0x.

use alloy_eips::{eip2930::AccessList, eip7702::SignedAuthorization};
use alloy_primitives::{Address, B256, Bytes, Log, U64, U256};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Case {
    /// Last active fork: regolith to jovian, or azul.
    pub fork: String,
    pub block: Block,
    pub accounts: BTreeMap<Address, Account>,
    /// EIP-2718 bytes.
    pub transactions: Vec<Bytes>,
    /// Calls as a node's RPC makes them, each on the state before the block.
    #[serde(default)]
    pub calls: Vec<Call>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Block {
    pub number: U64,
    pub timestamp: U64,
    pub beneficiary: Address,
    pub prev_randao: B256,
    pub gas_limit: U64,
    pub base_fee: U64,
    pub parent_hash: B256,
    pub parent_beacon_block_root: B256,
}

#[derive(Clone, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Account {
    pub nonce: U64,
    pub balance: U256,
    pub code: Bytes,
    pub storage: BTreeMap<U256, U256>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Call {
    pub from: Address,
    /// Absent: a contract creation.
    pub to: Option<Address>,
    pub value: U256,
    pub data: Bytes,
    pub gas_limit: U64,
    pub gas_price: U64,
    #[serde(default)]
    pub access_list: AccessList,
    #[serde(default)]
    pub authorization_list: Vec<SignedAuthorization>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    pub transactions: Vec<Transaction>,
    pub block: BlockEnd,
    pub accounts: BTreeMap<Address, Account>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<CallEnd>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BlockEnd {
    pub gas_used: U64,
    /// DA footprint; zero before Jovian.
    pub blob_gas_used: U64,
    pub logs_bloom: Bytes,
}

#[derive(Serialize)]
#[serde(untagged)]
pub enum Transaction {
    Refused {
        refused: String,
    },
    #[serde(rename_all = "camelCase")]
    Executed {
        succeeded: bool,
        gas_used: U64,
        logs: Vec<Log>,
        /// The receipt's EIP-2718 bytes.
        receipt: Bytes,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
pub enum CallEnd {
    Refused {
        refused: String,
    },
    #[serde(rename_all = "camelCase")]
    Ran {
        kind: &'static str,
        gas_used: U64,
        output: Bytes,
    },
}
