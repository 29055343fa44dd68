import type { EthContext } from '../../context.ts'
import type { Method } from '../../registry.ts'
import { clientVersion } from './clientVersion.ts'
import { sha3 } from './sha3.ts'

/** `web3_*`: the client's version and Keccak-256. */
export const web3Methods: readonly Method<EthContext>[] = [clientVersion, sha3]
