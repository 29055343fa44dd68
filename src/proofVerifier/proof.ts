import { keccak_256 as keccak256 } from '@noble/hashes/sha3.js'
import { concatBytes, equalBytes } from './bytes.ts'
import { listOf, maxSlots, objectOf, type ProvedAccount, type ProvedSlot, provedAccount, provedSlot } from './claims.ts'
import { fixedBytesOf, type Hex, quantityOf, toHex, wordHex } from './hex.ts'
import { type Problem, problemOr, Refusal } from './refusal.ts'

export type { ProvedAccount, ProvedSlot } from './claims.ts'
export type { Hex } from './hex.ts'
export type { Problem, ProblemCode } from './refusal.ts'

/** Problems of a proof: one for a wrong account, otherwise one for each wrong slot. A result with a problem proves nothing. */
export type Invalid = { readonly kind: 'invalid'; readonly problems: readonly [Problem, ...Problem[]] }

export type ProofVerdict = { readonly kind: 'valid'; readonly account: ProvedAccount; readonly slots: readonly ProvedSlot[] } | Invalid
export type StorageVerdict = { readonly kind: 'valid'; readonly slots: readonly ProvedSlot[] } | Invalid

/** Facts that the caller trusts, and what it asked for. Without `address` and `slots`, compare those of the verdict with the request. */
export type Trusted = {
  /** state root of a block, from a source that the caller trusts */
  readonly stateRoot: string
  readonly address?: string
  /** each must be proved; others may be proved too */
  readonly slots?: readonly string[]
}

/** L2ToL1MessagePasser of an OP-Stack chain: its storage has every withdrawal. */
export const messagePasser: Hex = '0x4200000000000000000000000000000000000016'

const invalid = (first: Problem, ...rest: readonly Problem[]): Invalid => ({ kind: 'invalid', problems: [first, ...rest] })

/** Reads an argument of the caller. @throws TypeError when it is malformed: the caller is wrong, not the proof */
function argument<T>(read: () => T): T {
  const result = problemOr(read)
  if ('problem' in result) throw new TypeError(`${result.problem.at}: ${result.problem.reason}`)
  return result.value
}

/**
 * Verifies an `eth_getProof` result (EIP-1186): the account against the state root, each slot against the account's storage hash, and every
 * claimed value. It also verifies that accounts and slots do not exist. Time and memory are bounded by the size of the input.
 * @param result parsed JSON; nothing in it is trusted
 * @throws TypeError when a trusted value is malformed
 */
export function verifyProof(result: unknown, { stateRoot, address, slots = [] }: Trusted): ProofVerdict {
  const root = argument(() => fixedBytesOf(stateRoot, 'stateRoot', 32))
  const wanted = address === undefined ? undefined : argument(() => toHex(fixedBytesOf(address, 'address', 20)))
  const wantedSlots = slotsOf(slots)
  const read = problemOr(() => {
    const json = objectOf(result, 'proof')
    const account = provedAccount(json, root)
    if (wanted !== undefined && account.address !== wanted)
      throw new Refusal('ADDRESS_DIFFERS', 'address', `the proof is of ${account.address}, requested was ${wanted}`)
    return { account, entries: listOf(json['storageProof'], 'storageProof', maxSlots) }
  })
  if ('problem' in read) return invalid(read.problem)
  const { account, entries } = read.value
  const storage = provedSlots(entries, fixedBytesOf(account.storageHash, 'storageHash', 32), wantedSlots, 'NODES_WRONG')
  return storage.kind === 'invalid' ? storage : { kind: 'valid', account, slots: storage.slots }
}

/**
 * Verifies the `storageProof` of an `eth_getProof` result alone, against a storage root that is known already, as a bridge on L1 does.
 * @param storageProof parsed JSON; nothing in it is trusted
 * @throws TypeError when a trusted value is malformed
 */
export function verifyStorageProof(
  storageProof: unknown,
  { storageHash, slots = [] }: { readonly storageHash: string; readonly slots?: readonly string[] },
): StorageVerdict {
  const root = argument(() => fixedBytesOf(storageHash, 'storageHash', 32))
  const wanted = slotsOf(slots)
  const read = problemOr(() => listOf(storageProof, 'storageProof', maxSlots))
  return 'problem' in read ? invalid(read.problem) : provedSlots(read.value, root, wanted, 'ROOT_DIFFERS')
}

const slotsOf = (slots: readonly string[]): readonly Hex[] =>
  slots.map((slot, i) => argument(() => wordHex(quantityOf(slot, `slots[${i}]`))))

function provedSlots(
  entries: readonly unknown[],
  storageHash: Uint8Array,
  wanted: readonly Hex[],
  otherRoot: 'ROOT_DIFFERS' | 'NODES_WRONG',
): StorageVerdict {
  const slots: ProvedSlot[] = []
  const problems: Problem[] = []
  for (const [i, entry] of entries.entries()) {
    const read = problemOr(() => provedSlot(entry, `storageProof[${i}]`, storageHash, otherRoot))
    if ('problem' in read) problems.push(read.problem)
    else slots.push(read.value)
  }
  const proved = new Set(slots.map(({ key }) => key))
  for (const key of problems.length === 0 ? wanted : [])
    if (!proved.has(key)) problems.push({ code: 'SLOT_MISSING', at: 'storageProof', reason: `slot ${key} was requested and is not proved` })
  const [first, ...rest] = problems
  return first === undefined ? { kind: 'valid', slots } : invalid(first, ...rest)
}

/** Parts of an output root of version 0, as `optimism_outputAtBlock` returns them. */
export type OutputParts = {
  readonly stateRoot: string
  /** storage hash of the L2ToL1MessagePasser; `withdrawalStorageRoot` in `optimism_outputAtBlock` */
  readonly messagePasserStorageRoot: string
  readonly blockHash: string
}

/** Returns the bytes whose hash is an output root: a version of zeros, and the parts. @throws Refusal MALFORMED */
function outputPreimage(parts: OutputParts): Uint8Array {
  const names = ['stateRoot', 'messagePasserStorageRoot', 'blockHash'] as const
  return concatBytes(new Uint8Array(32), ...names.map((name) => fixedBytesOf(parts[name], name, 32)))
}

/**
 * Computes the output root of version 0 that a proposer submits to L1 for a block.
 * @throws TypeError when a part is malformed
 * @see OP-Stack specs, protocol/proposals.md, "L2 Output Commitment Construction"
 */
export function outputRootOf(parts: OutputParts): Hex {
  return toHex(keccak256(argument(() => outputPreimage(parts))))
}

/**
 * Verifies that an output root commits to a state root, the storage root of the message passer and a block hash.
 * @throws TypeError when the output root is malformed
 */
export function verifyOutputRoot(outputRoot: string, parts: OutputParts): { readonly kind: 'valid' } | Invalid {
  const trusted = argument(() => fixedBytesOf(outputRoot, 'outputRoot', 32))
  const read = problemOr(() => keccak256(outputPreimage(parts)))
  if ('problem' in read) return invalid(read.problem)
  if (equalBytes(read.value, trusted)) return { kind: 'valid' }
  const reason = `the parts have the output root ${toHex(read.value)}, trusted is ${toHex(trusted)}`
  return invalid({ code: 'OUTPUT_ROOT_DIFFERS', at: 'outputRoot', reason })
}

/**
 * Returns the slot of the L2ToL1MessagePasser that is 1 once a withdrawal was sent: that of its hash in the mapping `sentMessages`, slot 0.
 * @throws TypeError when the hash is malformed
 */
export function sentMessageSlot(withdrawalHash: string): Hex {
  return toHex(
    keccak256(
      concatBytes(
        argument(() => fixedBytesOf(withdrawalHash, 'withdrawalHash', 32)),
        new Uint8Array(32),
      ),
    ),
  )
}
