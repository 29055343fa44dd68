import { bigintFromBytes } from '#lib/bytes'
import { encodeDeposit } from '#types/deposit'
import { type Address, type Hash, parseAddress, parseHash, zeroHash } from '#types/ids'
import type { Log } from '#types/log'
import type { Receipt } from '#types/receipt'
import { chainFault } from './faults.ts'
import { userDepositSource } from './sourceHash.ts'

/** TransactionDeposited(address indexed from, address indexed to, uint256 indexed version, bytes opaqueData) */
const depositTopic = parseHash('0xb3813568d9991fc951961fcb4c784893574240a28925604d09fc577c55bb7c32')
/** Bytes of mint 32, value 32, gas 8, is creation 1. */
const fixedBytes = 73

/** Decodes the ABI's single argument of type `bytes`, which must be padded minimally. Returns a reason when it is malformed. */
function opaqueData(data: Uint8Array): Uint8Array | string {
  if (data.length < 64 || data.length % 32 !== 0) return `${data.length} bytes of event data`
  if (bigintFromBytes(data.subarray(0, 32)) !== 32n) return 'offset is not 32'
  const length = bigintFromBytes(data.subarray(32, 64))
  const room = BigInt(data.length - 64)
  if (length > room || length + 32n <= room) return `length ${length} in ${room} bytes`
  return data.subarray(64, 64 + Number(length))
}

function depositFromLog(log: Log, sourceHash: Hash): Uint8Array | string {
  const [, from, to, version] = log.topics
  if (from === undefined || to === undefined || version === undefined || log.topics.length !== 4) return `${log.topics.length} topics`
  if (version !== zeroHash) return `version ${version}`
  const opaque = opaqueData(log.data)
  if (typeof opaque === 'string') return opaque
  if (opaque.length < fixedBytes) return `${opaque.length} bytes of opaque data`
  return encodeDeposit({
    type: 0x7e,
    sourceHash,
    from: topicAddress(from),
    to: opaque[72] === 0 ? topicAddress(to) : null,
    mint: bigintFromBytes(opaque.subarray(0, 32)),
    value: bigintFromBytes(opaque.subarray(32, 64)),
    gasLimit: bigintFromBytes(opaque.subarray(64, 72)),
    isSystemTransaction: false,
    data: opaque.subarray(fixedBytes),
  })
}

const topicAddress = (topic: Hash): Address => parseAddress(`0x${topic.slice(26)}`)

/**
 * Returns the deposits that users made in one L1 block, in log order.
 * @param depositContract OptimismPortal
 * @param receipts of the whole block
 * @returns EIP-2718 bytes
 * @throws Fault MALFORMED_DEPOSIT (fatal): a portal never emits a malformed log, so the configured contract is not a portal
 * @see specs protocol/deposits.md, "User-Deposited Transactions"
 */
export function userDeposits(depositContract: Address, l1BlockHash: Hash, receipts: readonly Receipt[]): readonly Uint8Array[] {
  const deposits: Uint8Array[] = []
  let logIndex = 0
  for (const receipt of receipts) {
    if (!receipt.succeeded) continue
    for (const log of receipt.logs) {
      const at = logIndex++
      if (log.address !== depositContract || log.topics[0] !== depositTopic) continue
      const deposit = depositFromLog(log, userDepositSource(l1BlockHash, at))
      if (typeof deposit === 'string') throw chainFault('MALFORMED_DEPOSIT', { l1Block: l1BlockHash, logIndex: at, reason: deposit })
      deposits.push(deposit)
    }
  }
  return deposits
}
