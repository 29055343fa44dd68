import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Exchange, parseExchanges } from '../rpc/exchanges.ts'
import { readShared, sharedDataDir } from '../sharedData.ts'

/** Returns the recorded exchanges of one method on a chain. */
export function recordedExchanges(chainName: string, method: string): readonly Exchange[] {
  const path = join('chains', chainName, 'rpc', `${method}.io`)
  const packed = `${path}.zst`
  return parseExchanges(readShared(existsSync(join(sharedDataDir, packed)) ? packed : path).toString('utf8'))
}
