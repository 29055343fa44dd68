import { type Address, parseAddress } from '#types/ids'

/** Returns the predeploy address 0x42…, given its last hex digits. @see specs protocol/predeploys.md */
const predeploy = (last: string): Address => parseAddress(`0x42${last.padStart(38, '0')}`)

export const sequencerFeeVault: Address = predeploy('11')
export const l1BlockAddress: Address = predeploy('15')
export const messagePasser: Address = predeploy('16')
export const baseFeeVault: Address = predeploy('19')
export const l1FeeVault: Address = predeploy('1a')
export const operatorFeeVault: Address = predeploy('1b')
export const proxyAdmin: Address = predeploy('18')
/** BaseTime, from Denim: a proxy that exists since genesis. */
export const baseTimeAddress: Address = predeploy('30')

/** Sender of the L1 attributes transaction. */
export const depositorAccount: Address = parseAddress('0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001')
/** Beacon roots contract, EIP-4788. */
export const beaconRootsContract: Address = parseAddress('0x000f3df6d732807ef1319fb7b8bb8522d0beac02')
/** Block hash history contract, EIP-2935. */
export const historyStorageContract: Address = parseAddress('0x0000f90827f1c53a10cb7a02335b175320002935')
/** Caller of system calls; EIP-4788, EIP-2935. */
export const systemCaller: Address = parseAddress('0xfffffffffffffffffffffffffffffffffffffffe')
