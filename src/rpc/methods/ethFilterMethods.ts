import type { EthContext } from '../context.ts'
import type { Method } from '../registry.ts'
import { getFilterChanges, getFilterLogs, newBlockFilter, newFilter, newPendingTransactionFilter, uninstallFilter } from './eth/filters.ts'

/** `eth_*` of filters that clients poll. */
export const ethFilterMethods: readonly Method<EthContext>[] = [
  newFilter,
  newBlockFilter,
  newPendingTransactionFilter,
  getFilterChanges,
  getFilterLogs,
  uninstallFilter,
]
