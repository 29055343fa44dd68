import {
  addressText,
  choice,
  defaulted,
  duration,
  type FlagOptions,
  type FlagSpec,
  inGroup,
  integer,
  older,
  onOff,
  port,
  secretHex,
  text,
  url,
} from './flagSpec.ts'
import * as form from './translations.ts'

const withConsensus = ['all', 'consensus'] as const
const withExecution = ['all', 'execution'] as const

/** A flag under the names that deployments of Base and the OP Stack use. */
const named = (suffix: string, more: Omit<FlagOptions, 'aliases'>): FlagOptions => ({
  ...more,
  aliases: older([`BASE_NODE_P2P_${suffix}`, `OP_NODE_P2P_${suffix}`]),
})

const nodes = (options: FlagOptions): FlagSpec<string> => text(options, 'NODE[,NODE]')
const list = (options: FlagOptions): FlagSpec<string> => text(options, 'PEER[,PEER]')

/** Flags of the consensus network. */
export const p2pFlags = inGroup(
  'Peers',
  {
    'p2p.disable': onOff({
      aliases: older(['BASE_NODE_P2P_DISABLE', 'OP_NODE_P2P_DISABLE'], { translation: form.trueOrFalse }),
      doc: 'no peers: blocks come from L1, or from --source.l2.rpc',
    }),
    'p2p.enable': onOff({ doc: 'peers also on a custom chain, for which they are off by default' }),
    'p2p.addr': defaulted(text(named('LISTEN_IP', { doc: 'IP address on which peers are accepted' }), 'ADDRESS'), '0.0.0.0'),
    'p2p.port': defaulted(
      port(named('LISTEN_TCP_PORT', { doc: 'TCP port of gossip and UDP port of discovery, one number for both; 0: any free one' })),
      9_222,
    ),
    'p2p.advertise': text(
      named('ADVERTISE_IP', { doc: 'IP address under which peers reach this node; by default what peers report' }),
      'ADDRESS',
    ),
    'p2p.advertise.tcp': integer(named('ADVERTISE_TCP_PORT', { doc: 'TCP port under which peers reach this node' }), 'PORT', 1, 65_535),
    'p2p.advertise.udp': integer(named('ADVERTISE_UDP_PORT', { doc: 'UDP port under which peers reach this node' }), 'PORT', 1, 65_535),
    'p2p.nat': defaulted(
      choice(
        {
          aliases: older('OP_NODE_P2P_NAT', { translation: form.natMethod }),
          modes: ['all', 'consensus', 'execution'],
          doc: 'has the gateway of the local network pass on the ports of both networks; upnp trusts that network',
        },
        ['none', 'upnp'],
      ),
      'none',
    ),
    'p2p.no-discovery': onOff({
      aliases: older(['BASE_NODE_P2P_NO_DISCOVERY', 'OP_NODE_P2P_NO_DISCOVERY'], { translation: form.trueOrFalse }),
      doc: 'no discovery: static, trusted and known peers only',
    }),
    'p2p.bootnodes': list(named('BOOTNODES', { doc: 'ENRs at which discovery begins; by default those of the network' })),
    'p2p.static': list(named('STATIC', { doc: 'peers to keep connected: multiaddrs with /p2p/ID, ENRs or enode URLs' })),
    'p2p.trusted': list({ doc: 'as --p2p.static, also exempt from bans and from the limit of connections' }),
    'p2p.max-peers': defaulted(
      integer({ aliases: older(['BASE_NODE_P2P_PEERS_HI', 'OP_NODE_P2P_PEERS_HI']), doc: 'most connections with peers' }, 'N', 1, 500),
      30,
    ),
    'p2p.key': text(
      named('PRIV_PATH', { doc: "file of this node's identity, made at the first start; default DATADIR/p2p/identity.hex" }),
      'FILE',
    ),
    'p2p.key.raw': secretHex(named('PRIV_RAW', { doc: 'the identity itself; overrides the file' })),
    'p2p.ban': defaulted(choice({ doc: 'ban peers whose score is too low' }, ['on', 'off']), 'on'),
    'p2p.ban.duration': defaulted(
      duration({ doc: 'duration of a ban' }, '1s to 99999s', (ms) => ms >= 1_000),
      3_600_000,
      '3600s',
    ),
    'p2p.signer': addressText(
      named('UNSAFE_BLOCK_SIGNER', { doc: 'signer of unsafe blocks until L1 names one; known for the built-in networks' }),
    ),
    'p2p.sequencer.key': text(
      {
        aliases: older(['BASE_NODE_P2P_SEQUENCER_KEY_PATH', 'OP_NODE_P2P_SEQUENCER_KEY_PATH']),
        doc: 'file of the key that signs blocks built here',
      },
      'FILE',
    ),
    'p2p.signer.endpoint': url(
      named('SIGNER_ENDPOINT', { secret: true, doc: 'remote signer of blocks built here, instead of --p2p.sequencer.key' }),
      ['http', 'https'],
    ),
    'p2p.signer.address': addressText(named('SIGNER_ADDRESS', { doc: 'account of the remote signer' })),
  },
  { modes: withConsensus },
)

/** Flags of the execution network. */
export const executionPeersFlags = inGroup(
  'Peers',
  {
    'p2p.execution': choice(
      {
        doc: 'peers of the execution network (RLPx): fill gaps of the unsafe chain, and are served blocks; on by default on the built-in networks (in --mode all unless --p2p.disable) and where peers are given',
      },
      ['on', 'off'],
    ),
    'p2p.execution.addr': defaulted(text({ doc: 'IP address on which execution peers are accepted' }, 'ADDRESS'), '0.0.0.0'),
    'p2p.execution.port': defaulted(
      port({ doc: 'TCP port of RLPx and UDP port of its discovery, one number for both; 0: any free one' }),
      30_303,
    ),
    'p2p.execution.advertise': text(
      { doc: 'IP address under which execution peers reach this node; by default what peers report' },
      'ADDRESS',
    ),
    'p2p.execution.no-discovery': onOff({ doc: 'no discovery of execution peers: static and trusted ones only' }),
    'p2p.execution.bootnodes': nodes({ doc: 'enode URLs or ENRs at which discovery begins; by default those of the network' }),
    'p2p.execution.static': nodes({ doc: 'execution peers to keep connected: enode URLs or ENRs' }),
    'p2p.execution.trusted': nodes({ doc: 'as --p2p.execution.static, also exempt from bans and from the limit of connections' }),
    'p2p.execution.max-peers': defaulted(integer({ doc: 'most connections with execution peers' }, 'N', 1, 200), 30),
    'p2p.execution.key': text(
      { doc: "file of this node's identity on the execution network, made at the first start; default DATADIR/p2p/execution.hex" },
      'FILE',
    ),
  },
  { modes: withExecution },
)
