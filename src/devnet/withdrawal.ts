import { messagePasser } from '#chainspec/addresses'
import { l2OutputRoot } from '#chainspec/l2OutputRoot'
import { bigintFromBytes, bytesFromBigint, concatBytes } from '#lib/bytes'
import { fromHex, toQuantity } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { decodeRlp, rlpBytes, rlpList } from '#lib/rlp'
import { verifyProof } from '#trie/proof'
import { type Address, type Hash, hashFromBytes, parseAddress } from '#types/ids'
import { hashField, type Json, listOf, objectOf } from '#types/jsonShape'
import { encodeArguments, encodeCall, eventTopic } from './abi.ts'
import { devnetFault } from './faults.ts'
import type { DevnetAccount } from './ports.ts'
import type { RemoteDevnet } from './remoteDevnet.ts'
import { readReceipt, type SentReceipt, sendOnL2 } from './wallet.ts'

/** Message to L1 as the message passer stored it. Wei, gas. */
export type Withdrawal = {
  readonly nonce: bigint
  readonly sender: Address
  readonly target: Address
  readonly value: bigint
  readonly gasLimit: bigint
  readonly data: Uint8Array
}

/** Data with which a user proves a withdrawal on L1, verified here. */
export type ProvedWithdrawal = {
  readonly withdrawal: Withdrawal
  readonly withdrawalHash: Hash
  readonly receipt: SentReceipt
  readonly outputRoot: Hash
  /** preimage of the output root */
  readonly output: {
    readonly stateRoot: Hash
    readonly messagePasserStorageRoot: Hash
    readonly blockHash: Hash
    readonly blockNumber: number
  }
  readonly storageSlot: Hash
  /** RLP of trie nodes in hex, in the format of `eth_getProof` */
  readonly storageProof: readonly string[]
  readonly accountProof: readonly string[]
}

const withdrawalTypes = '(uint256,address,address,uint256,uint256,bytes)'
const initiate = 'initiateWithdrawal(address,uint256,bytes)'
const messagePassed = eventTopic('MessagePassed(uint256,address,address,uint256,uint256,bytes,bytes32)')
/** gas on L1 for the message's execution */
const messageGas = 100_000n

/** Returns the hash of a withdrawal. @see specs protocol/withdrawals.md, "Withdrawal hash" */
export function withdrawalHashOf({ nonce, sender, target, value, gasLimit, data }: Withdrawal): Hash {
  return hashFromBytes(keccak256(encodeArguments(withdrawalTypes, [nonce, sender, target, value, gasLimit, data])))
}

/** Returns the storage slot of a sent message in the message passer's first mapping, `sentMessages`. */
export function sentMessageSlot(withdrawalHash: Hash): Hash {
  return hashFromBytes(keccak256(concatBytes(fromHex(withdrawalHash), bytesFromBigint(0n, 32))))
}

const unproved = (reason: string): Error => devnetFault('WITHDRAWAL_UNPROVED', { reason })
const topicAddress = (topic: Hash): Address => parseAddress(`0x${topic.slice(26)}`)

/** Returns the withdrawal in the event, after a check that its hash matches its fields. */
function withdrawalIn(receipt: SentReceipt): { withdrawal: Withdrawal; withdrawalHash: Hash } {
  const log = receipt.logs.find(({ address, topics }) => address === messagePasser && topics[0] === messagePassed)
  const [, nonce, sender, target] = log?.topics ?? []
  if (log === undefined || !nonce || !sender || !target) throw unproved('the transaction has no MessagePassed event')
  const wordAt = (index: number): Uint8Array => log.data.subarray(32 * index, 32 * (index + 1))
  // an offset beyond the data results in empty bytes, whose hash differs below
  const dataAt = Number(bigintFromBytes(wordAt(2)))
  const length = Number(bigintFromBytes(log.data.subarray(dataAt, dataAt + 32)))
  const withdrawal: Withdrawal = {
    nonce: BigInt(nonce),
    sender: topicAddress(sender),
    target: topicAddress(target),
    value: bigintFromBytes(wordAt(0)),
    gasLimit: bigintFromBytes(wordAt(1)),
    data: log.data.subarray(dataAt + 32, dataAt + 32 + length),
  }
  const withdrawalHash = withdrawalHashOf(withdrawal)
  if (withdrawalHash !== hashFromBytes(wordAt(3))) throw unproved('the withdrawal hash in the event does not match its fields')
  return { withdrawal, withdrawalHash }
}

const proofNodes = (json: Json, key: string): readonly string[] => listOf(json[key], key).map(String)
const bytesOf = (nodes: readonly string[]): readonly Uint8Array[] => nodes.map(fromHex)

/** Returns the storage root of the message passer, proved under a state root. */
function provedStorageRoot(stateRoot: Hash, accountProof: readonly string[]): Hash {
  const verdict = verifyProof(stateRoot, keccak256(fromHex(messagePasser)), bytesOf(accountProof))
  if (verdict.kind !== 'present') throw unproved(`the account proof is ${verdict.kind}`)
  return hashFromBytes(rlpBytes(rlpList(decodeRlp(verdict.value), 'account')[2], 'storage root'))
}

function requireSent(storageRoot: Hash, slot: Hash, storageProof: readonly string[]): void {
  const verdict = verifyProof(storageRoot, keccak256(fromHex(slot)), bytesOf(storageProof))
  const value = verdict.kind === 'present' ? rlpBytes(decodeRlp(verdict.value), 'value') : undefined
  if (value?.length !== 1 || value[0] !== 1) throw unproved(`the storage proof is ${verdict.kind}`)
}

type Claim = { readonly root: Hash; readonly output: ProvedWithdrawal['output'] }

function claimOf(result: unknown): Claim {
  const json = objectOf(result, 'output')
  const block = objectOf(json['blockRef'], 'blockRef')
  const output = {
    stateRoot: hashField(json, 'stateRoot'),
    messagePasserStorageRoot: hashField(json, 'withdrawalStorageRoot'),
    blockHash: hashField(block, 'hash'),
    blockNumber: Number(block['number']),
  }
  return { root: hashField(json, 'outputRoot'), output }
}

/** Returns the output root at the withdrawal's block with a proof, each step recomputed. @throws Fault WITHDRAWAL_UNPROVED (fatal) */
async function prove(devnet: RemoteDevnet, receipt: SentReceipt): Promise<ProvedWithdrawal> {
  const at = toQuantity(receipt.block.number)
  const { root, output } = await devnet.rollup('optimism_outputAtBlock', [at], claimOf)
  const { stateRoot, messagePasserStorageRoot, blockHash } = output
  if (l2OutputRoot({ stateRoot, messagePasserStorageRoot, hash: blockHash }) !== root)
    throw unproved('the output root does not match its parts')
  if (blockHash !== receipt.block.hash) throw unproved(`block ${receipt.block.number} has been replaced`)
  const { withdrawal, withdrawalHash } = withdrawalIn(receipt)
  const storageSlot = sentMessageSlot(withdrawalHash)
  const proof = await devnet.l2('eth_getProof', [messagePasser, [storageSlot], at], (result) => objectOf(result, 'proof'))
  const accountProof = proofNodes(proof, 'accountProof')
  const storageProof = proofNodes(objectOf(listOf(proof['storageProof'], 'storageProof')[0], 'storageProof'), 'proof')
  if (provedStorageRoot(stateRoot, accountProof) !== messagePasserStorageRoot)
    throw unproved('the storage root in the output differs from the proved one')
  requireSent(messagePasserStorageRoot, storageSlot, storageProof)
  return { withdrawal, withdrawalHash, receipt, outputRoot: root, output, storageSlot, storageProof, accountProof }
}

/**
 * Initiates a withdrawal on L2, waits until its block is safe, and proves it against the output root. It does nothing on L1, because the devnet has
 * no contract that pays withdrawals out.
 * @throws Fault DEVNET_RPC, TRANSACTION_FAILED, DEVNET_WAITED, WITHDRAWAL_UNPROVED (all fatal)
 */
export async function withdraw(
  devnet: RemoteDevnet,
  account: DevnetAccount,
  wish: { readonly to: Address; readonly value: bigint; readonly data: Uint8Array },
): Promise<ProvedWithdrawal> {
  const data = encodeCall(initiate, [wish.to, messageGas, wish.data])
  const { hash } = await sendOnL2(devnet, account, { to: messagePasser, value: wish.value, data })
  const receipt = await devnet.until(`withdrawal ${hash} in a safe block`, async () => {
    const found = await readReceipt(devnet.l2, hash)
    const safe = await devnet.rollup('optimism_syncStatus', [], (status) => objectOf(objectOf(status, 'status')['safe_l2'], 'safe_l2'))
    return found && Number(safe['number']) >= found.block.number ? found : undefined
  })
  return prove(devnet, receipt)
}
