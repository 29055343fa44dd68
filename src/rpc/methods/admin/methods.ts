import type { AdminContext, EthContext } from '../../context.ts'
import type { Method } from '../../registry.ts'
import { clearTxpool, dropSenderTransactions, dropTransaction } from './dropTransactions.ts'
import { executionPeerMethods } from './executionPeers.ts'
import { postUnsafePayload } from './postUnsafePayload.ts'
import { sequencerMethods } from './sequencer.ts'
import { setLogLevel } from './setLogLevel.ts'

/** `admin_*` of the execution half (port 8545): removal of transactions from the pool, execution peers. */
export const ethAdminMethods: readonly Method<EthContext>[] = [
  dropTransaction,
  dropSenderTransactions,
  clearTxpool,
  ...executionPeerMethods,
]

/** `admin_*` of the consensus half (port 7545): control of the sequencer, the log level and the unsafe head. */
export const adminMethods: readonly Method<AdminContext>[] = [postUnsafePayload, setLogLevel, ...sequencerMethods]
