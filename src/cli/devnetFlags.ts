import { dataAvailabilities, maxAccounts } from '#devnet/choices'
import { addressText, amount, choice, defaulted, duration, hexText, inGroup, integer, onOff, port, text } from './flagSpec.ts'

/** Flags of `basalt devnet` and its subcommands. A flag without a fallback defaults to the value that the chain in --datadir was created with. */
export const devnetFlags = inGroup(
  'Devnet',
  {
    'chain-id': integer({ doc: 'chain id of L2; default 901, or that of the chain in --datadir' }, 'N', 1, 999_999_999_999_999),
    'block-time': duration(
      { doc: 'interval between L2 blocks: 200ms with Denim, 1s or 2s before it; default 200ms' },
      '200ms, 1s or 2s',
      (ms) => [200, 1_000, 2_000].includes(ms),
    ),
    'l1-block-time': duration(
      { doc: 'interval between L1 blocks: 1s to 60s; default 2s' },
      'a whole number of seconds from 1s to 60s',
      (ms) => ms % 1_000 === 0 && ms >= 1_000 && ms <= 60_000,
    ),
    accounts: integer({ doc: 'number of accounts that get 10,000 ETH on both chains; default 10' }, 'N', 1, maxAccounts),
    nodes: integer(
      {
        doc: 'verifying nodes; from two on, they and the sequencer are peers on loopback, and the further ones take unsafe blocks from gossip; default 1',
      },
      'N',
      1,
      8,
    ),
    mnemonic: text({ secret: true, doc: 'words of the accounts; default: test … test junk' }, 'WORDS'),
    fork: text(
      {
        doc: 'canyon to denim: active in block 1 with all earlier forks; or a JSON file with seconds after genesis by fork; default denim, with --block-time 1s or 2s cobalt',
      },
      'NAME|FILE',
    ),
    l1: choice(
      {
        doc: 'the L1: anvil in its own process, or memory, which cannot be kept; default anvil',
      },
      ['anvil', 'memory'],
    ),
    'data-availability': choice(
      {
        doc: 'form in which the batcher posts blocks to L1; auto: the cheaper form; default calldata',
      },
      dataAvailabilities,
    ),
    'l1.port': defaulted(port({ doc: 'JSON-RPC of the L1; 0: any free port' }), 4545),
    'verifier.port': defaulted(
      port({
        doc: 'JSON-RPC of the node that derives the chain from L1; 0: any free port',
      }),
      8645,
    ),
    'verifier.ws-port': defaulted(port({ doc: 'the same over WebSocket, with subscriptions; 0: any free port' }), 8646),
    'publisher.port': defaulted(
      port({
        doc: "WebSocket with the sequencer's flashblocks, which the verifier serves as `pending`, with a fork before Denim; 0: any free port; off: none",
      }),
      1111,
    ),
    'control.port': defaulted(port({ doc: 'devnet_* methods, on loopback; 0: any free port' }), 8549),
    quiet: onOff({ doc: 'write no status lines after the start' }),
    force: onOff({ doc: 'replace the files of an earlier export' }),
    from: text({ doc: 'the sender: number or address of an account; default 0' }, 'N|ADDRESS'),
    to: addressText({ doc: 'the receiver; default for a deposit or a withdrawal: the sender' }),
    value: amount({ doc: 'amount: 1.5ether, 20gwei, or wei; default 0' }),
    data: hexText({ doc: 'calldata; without --to the init code of a contract' }),
  },
  { prefix: 'BASALT_DEVNET_' },
)
