import { type Address, parseAddress } from '#types/ids'

/** Predeploys at 0x42…: the last bytes as in execution-layer documents. @see specs protocol/predeploys.md */
const predeploy = (last: string): Address => parseAddress(`0x42${last.padStart(38, '0')}`)

export const sequencerFeeVault: Address = predeploy('11')
export const l1BlockAddress: Address = predeploy('15')
export const messagePasser: Address = predeploy('16')
export const baseFeeVault: Address = predeploy('19')
export const l1FeeVault: Address = predeploy('1a')
export const operatorFeeVault: Address = predeploy('1b')

/** Sender of the L1 attributes. */
export const depositorAccount: Address = parseAddress('0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001')
/** EIP-4788 */
export const beaconRootsContract: Address = parseAddress('0x000f3df6d732807ef1319fb7b8bb8522d0beac02')
/** EIP-2935 */
export const historyStorageContract: Address = parseAddress('0x0000f90827f1c53a10cb7a02335b175320002935')
/** EIP-7002; on Ethereum alone */
export const withdrawalRequestsContract: Address = parseAddress('0x00000961ef480eb55e80d19ad83579a64c007002')
/** EIP-7251; on Ethereum alone */
export const consolidationRequestsContract: Address = parseAddress('0x0000bbddc7ce488642fb579f8b00f3a590007251')
/** EIP-4788, EIP-2935: caller of the system calls */
export const systemCaller: Address = parseAddress('0xfffffffffffffffffffffffffffffffffffffffe')
