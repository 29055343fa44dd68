/** Addresses and files of the devnet that takes the place of a public chain, in the variable DOCS_VALUES. */
export type DocsValues = {
  readonly l1: string
  readonly beacon: string
  readonly rpc: string
  readonly rollupConfig: string
  readonly genesis: string
  readonly l1Config: string
}

const account = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'

/** The same port under another host name, as a second endpoint. */
const twice = (url: string): string => `${url},${url.replace('127.0.0.1', 'localhost')}`

/** Returns an argument with its placeholder replaced. @param flag the argument before it */
function realValue(argument: string, flag: string, { l1, beacon, rpc }: DocsValues): string {
  const urls: Readonly<Record<string, string>> = { '--l1.rpc': l1, '--l1.beacon': beacon, '--source.l2.rpc': rpc, '--source.state': rpc }
  if (argument === 'URL') return urls[flag] ?? 'http://127.0.0.1:8590'
  if (argument === 'URL,URL') return twice(urls[flag] ?? '')
  if (argument === 'DIR') return './data'
  if (argument === 'ADDRESS') return account
  if (argument.startsWith('wss://one.example')) return 'ws://127.0.0.1:1111'
  return argument.startsWith('/srv/') ? `.${argument}` : argument
}

/** Returns the arguments of a command with the devnet in place of a public chain, `URL`, `DIR` and `…`. */
export function realArguments(args: readonly string[], values: DocsValues, hasNetwork: boolean): readonly string[] {
  const isConsensus = args[0] === 'node' && !args.includes('execution')
  const chain = [
    '--rollup.config',
    values.rollupConfig,
    '--genesis',
    values.genesis,
    ...(isConsensus ? ['--l1.chain-config', values.l1Config] : []),
  ]
  const l1 = isConsensus ? ['--l1.rpc', values.l1, '--l1.beacon', values.beacon] : []
  const replaced = args.flatMap((argument, at) => {
    if (argument === '--network') return chain
    if (args[at - 1] === '--network') return []
    if (argument === '…') return [...chain, ...l1, '--datadir', './data']
    return [realValue(argument, args[at - 1] ?? '', values)]
  })
  return hasNetwork ? [...replaced, ...chain] : replaced
}
