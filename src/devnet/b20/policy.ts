import { policyRegistryAddress } from '#nativeContracts/addresses'
import { alwaysAllow, alwaysBlock } from '#nativeContracts/policy/ids'
import type { Address } from '#types/ids'
import { encodeCall, eventTopic } from '../abi.ts'
import { type PolicyType, policyTypes } from '../choices.ts'
import { devnetFault } from '../faults.ts'
import type { DevnetAccount } from '../ports.ts'
import type { RemoteDevnet } from '../remoteDevnet.ts'
import { type SentReceipt, sendOnL2 } from '../wallet.ts'

/** All types, by the number in the highest byte of an id. */
const typeNames = [...policyTypes, 'union', 'intersect'] as const
const typeShift = 56n
const invertedBit = 1n << 63n
const createdTopic = eventTopic('PolicyCreated(uint64,address,uint8)')

/** Describes an id: `always allow`, `blocklist`, `not allowlist`. */
export function describePolicy(id: bigint): string {
  if (id === alwaysAllow) return 'always allow'
  if (id === alwaysBlock) return 'always block'
  const base = id & ~invertedBit
  return `${base === id ? '' : 'not '}${typeNames[Number(base >> typeShift)] ?? 'unknown type'}`
}

const send = (devnet: RemoteDevnet, account: DevnetAccount, data: Uint8Array): Promise<SentReceipt> =>
  sendOnL2(devnet, account, { to: policyRegistryAddress, value: 0n, data })

/** Creates a policy whose admin is the sender. @throws Fault CALL_REVERTED and those of `sendOnL2` (all fatal) */
export async function createPolicy(
  devnet: RemoteDevnet,
  account: DevnetAccount,
  type: PolicyType,
  members: readonly Address[],
): Promise<{ readonly id: bigint; readonly receipt: SentReceipt }> {
  const values = [account.address, policyTypes.indexOf(type), members]
  const receipt = await send(devnet, account, encodeCall('createPolicyWithAccounts(address,uint8,address[])', values))
  const id = receipt.logs.find(({ address, topics }) => address === policyRegistryAddress && topics[0] === createdTopic)?.topics[1]
  if (id === undefined) {
    throw devnetFault('TRANSACTION_FAILED', { hash: receipt.hash, where: 'L2, without a policy event', block: receipt.block.number })
  }
  return { id: BigInt(id), receipt }
}

/** Adds or removes members of a blocklist or an allowlist. @throws Fault CALL_REVERTED and those of `sendOnL2` (all fatal) */
export function updateMembers(
  devnet: RemoteDevnet,
  account: DevnetAccount,
  id: bigint,
  change: { readonly isMember: boolean; readonly members: readonly Address[] },
): Promise<SentReceipt> {
  const list = typeNames[Number(id >> typeShift)] === 'allowlist' ? 'updateAllowlist' : 'updateBlocklist'
  return send(devnet, account, encodeCall(`${list}(uint64,bool,address[])`, [id, change.isMember, change.members]))
}
