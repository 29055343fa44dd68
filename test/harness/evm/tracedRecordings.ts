import type { RecordedChainName } from '#devnet/recordedChain'
import { type Exchange, readExchanges } from '../rpc/exchanges.ts'

/** Returns the recorded exchanges of one method on a chain. */
export const recordedExchanges = (chainName: RecordedChainName, method: string): readonly Exchange[] =>
  readExchanges(chainName).filter((exchange) => exchange.method === method)
