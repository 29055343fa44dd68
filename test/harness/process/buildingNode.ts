// A node in a child process: it sends the URL of its RPC, or the fault of its start. For each message with a number it builds as many blocks, `large` ones
// if the second argument says so, and sends each acknowledged head, then `ended` or the fault.
import { errorMessage, isFault } from '#lib/fault'
import { extendChain, largeCalldata, startChain } from './builtChain.ts'

export type FromNode =
  | { readonly kind: 'serving'; readonly url: string }
  | { readonly kind: 'head'; readonly number: number; readonly hash: string }
  | { readonly kind: 'ended' }
  | { readonly kind: 'fault'; readonly code: string; readonly severity: string; readonly message: string }

const [datadir = '', size] = process.argv.slice(2)
const send = (message: FromNode): void => void process.send?.(message)
const sendFault = (error: unknown): void => {
  const { code, severity } = isFault(error) ? error : { code: 'no fault', severity: '' }
  send({ kind: 'fault', code, severity, message: errorMessage(error) })
}

try {
  const node = await startChain(datadir, 'kept', () => {})
  send({ kind: 'serving', url: node.urls.http ?? '' })
  process.on('message', async (blocks: number) => {
    try {
      const head = node.execution?.published.heads.unsafe.number ?? 0
      await extendChain(
        node,
        head + blocks,
        'kept',
        ({ number, hash }) => send({ kind: 'head', number, hash }),
        size === 'large' ? largeCalldata : undefined,
      )
      send({ kind: 'ended' })
    } catch (error) {
      sendFault(error)
    }
  })
} catch (error) {
  sendFault(error)
  process.disconnect()
}
