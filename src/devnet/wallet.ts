import { fromHex, toHex, toQuantity } from '#lib/hex'
import { type Address, type Hash, parseAddress, parseHash } from '#types/ids'
import { addressField, bigintField, bytesField, has, hashField, type Json, listOf, numberField, objectOf } from '#types/jsonShape'
import { signTransaction } from '#types/signing'
import { devnetAccounts } from './accounts.ts'
import { devnetFault } from './faults.ts'
import type { DevnetAccount } from './ports.ts'
import type { Ask, RemoteDevnet } from './remoteDevnet.ts'

/** Transaction to send; `to` null creates a contract. Wei. */
export type Wish = { readonly to: Address | null; readonly value: bigint; readonly data: Uint8Array }

export type TransferLog = {
  readonly address: Address
  readonly topics: readonly Hash[]
  readonly data: Uint8Array
  readonly logIndex: number
}
export type SentReceipt = {
  readonly hash: Hash
  readonly succeeded: boolean
  readonly block: { readonly number: number; readonly hash: Hash }
  readonly gasUsed: bigint
  readonly contract: Address | undefined
  readonly logs: readonly TransferLog[]
}

/** wei per gas */
const tip = 1_000_000n
/** Factor on the base fee, for rising base fees while a transaction is pending. */
const baseFeeRoom = 4n

/**
 * Returns the account of a number, or of an address of the devnet's accounts.
 * @throws Fault UNKNOWN_ACCOUNT (fatal) when there is none, or when the mnemonic is not the devnet's
 */
export function accountOf(devnet: Pick<RemoteDevnet, 'facts'>, mnemonic: string, from: string): DevnetAccount {
  const { accounts } = devnet.facts
  const index = /^\d{1,3}$/.test(from) ? Number(from) : accounts.indexOf(from.toLowerCase())
  const address = accounts[index]
  if (address === undefined)
    throw devnetFault('UNKNOWN_ACCOUNT', { from: from.slice(0, 80), reason: `the devnet has ${accounts.length} accounts` })
  const account = devnetAccounts(mnemonic, accounts.length).accounts[index]
  if (account?.address !== address) {
    throw devnetFault('UNKNOWN_ACCOUNT', { from, reason: `the devnet's is ${address}, from another mnemonic than --mnemonic` })
  }
  return account
}

const quantityOf = (result: unknown): bigint => bigintField({ result }, 'result')

/** Signs and sends a transaction. @returns the hash. @throws Fault DEVNET_RPC (fatal) with the reason of a refusal */
export async function sendFrom(ask: Ask, chainId: number, account: DevnetAccount, { to, value, data }: Wish): Promise<Hash> {
  const call = { from: account.address, ...(to !== null && { to }), value: toQuantity(value), data: toHex(data) }
  const nonce = await ask('eth_getTransactionCount', [account.address, 'pending'], quantityOf)
  const gasLimit = await ask('eth_estimateGas', [call], quantityOf)
  const baseFee = await ask('eth_getBlockByNumber', ['latest', false], (block) => bigintField(objectOf(block, 'block'), 'baseFeePerGas'))
  const { raw } = signTransaction(
    {
      type: 2,
      chainId: BigInt(chainId),
      nonce,
      gasLimit: (gasLimit * 6n) / 5n,
      to,
      value,
      data,
      accessList: [],
      maxPriorityFeePerGas: tip,
      maxFeePerGas: baseFee * baseFeeRoom + tip,
    },
    fromHex(account.privateKey),
  )
  return ask('eth_sendRawTransaction', [toHex(raw)], (hash) => hashField({ hash }, 'hash'))
}

function logOf(value: unknown): TransferLog {
  const json = objectOf(value, 'log')
  return {
    address: addressField(json, 'address'),
    topics: listOf(json['topics'], 'topics').map((topic) => parseHash(String(topic))),
    data: bytesField(json, 'data'),
    logIndex: numberField(json, 'logIndex'),
  }
}

function receiptOf(json: Json): SentReceipt {
  return {
    hash: hashField(json, 'transactionHash'),
    succeeded: bigintField(json, 'status') === 1n,
    block: { number: numberField(json, 'blockNumber'), hash: hashField(json, 'blockHash') },
    gasUsed: bigintField(json, 'gasUsed'),
    contract: has(json, 'contractAddress') ? addressField(json, 'contractAddress') : undefined,
    logs: listOf(json['logs'], 'logs').map(logOf),
  }
}

/** Returns the receipt; undefined when the transaction is in no block. */
export function readReceipt(ask: Ask, hash: Hash): Promise<SentReceipt | undefined> {
  return ask('eth_getTransactionReceipt', [hash], (result) => (result === null ? undefined : receiptOf(objectOf(result, 'receipt'))))
}

/** Returns whether the transaction is in a block or pending. */
export const isKnown = (ask: Ask, hash: Hash): Promise<boolean> => ask('eth_getTransactionByHash', [hash], (result) => result !== null)

export type AccountBalances = { readonly address: string; readonly l1Wei: bigint; readonly l2Wei: bigint }

/** Returns a balance in wei. */
const readBalance = (ask: Ask, address: string): Promise<bigint> => ask('eth_getBalance', [parseAddress(address), 'latest'], quantityOf)

/** Returns the balances of each account on both chains, in wei. @throws Fault DEVNET_RPC (fatal) */
export function readBalances({ facts, l1, l2 }: RemoteDevnet): Promise<readonly AccountBalances[]> {
  return Promise.all(
    facts.accounts.map(async (address) => {
      const [l1Wei, l2Wei] = await Promise.all([readBalance(l1, address), readBalance(l2, address)])
      return { address, l1Wei, l2Wei }
    }),
  )
}

/** Returns the receipt if the transaction succeeded. @throws Fault TRANSACTION_FAILED (fatal) */
export function requireSuccess(receipt: SentReceipt, where: string): SentReceipt {
  if (!receipt.succeeded) throw devnetFault('TRANSACTION_FAILED', { hash: receipt.hash, where, block: receipt.block.number })
  return receipt
}

/**
 * Sends a transaction on L2 and waits until it is in a block.
 * @throws Fault DEVNET_RPC, TRANSACTION_FAILED, DEVNET_WAITED (all fatal)
 */
export async function sendOnL2(devnet: RemoteDevnet, account: DevnetAccount, wish: Wish): Promise<SentReceipt> {
  const hash = await sendFrom(devnet.l2, devnet.facts.chainId, account, wish)
  const receipt = await devnet.until(`transaction ${hash} in a block`, () => readReceipt(devnet.l2, hash))
  return requireSuccess(receipt, 'L2')
}
