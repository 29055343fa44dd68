import type { AdminContext, EthContext, OperatorContext } from '../../context.ts'
import type { Method } from '../../registry.ts'
import { clearTxpool, dropSenderTransactions, dropTransaction } from './dropTransactions.ts'
import { executionPeerMethods } from './executionPeers.ts'
import { logLevels, setLogLevel } from './logLevels.ts'
import { postUnsafePayload } from './postUnsafePayload.ts'
import { profile, startProfile } from './profiles.ts'
import { sequencerMethods } from './sequencer.ts'

/** `admin_*` of the execution half (port 8545): removal of transactions from the pool, execution peers. */
export const ethAdminMethods: readonly Method<EthContext>[] = [
  dropTransaction,
  dropSenderTransactions,
  clearTxpool,
  ...executionPeerMethods,
]

/** `admin_*` of both halves, over the Unix socket and on port 7545: levels of the log, profiles. */
export const operatorMethods: readonly Method<OperatorContext>[] = [logLevels, setLogLevel, startProfile, profile]

/** `admin_*` of the consensus half (port 7545): control of the sequencer, the log, profiles and the unsafe head. */
export const adminMethods: readonly Method<AdminContext>[] = [postUnsafePayload, ...operatorMethods, ...sequencerMethods]
